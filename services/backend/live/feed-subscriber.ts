/** A socket that follows all resources that its owner may see. Stores each stream with pending changes once. Beyond a
 *  limit, asks the client to reload everything. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { WebSocket } from 'ws';
import type { Credential } from '../http/credentials/authentication.ts';
import type { FeedFrame } from './feed-frames.ts';

const maxWaiting = 1000;
/** A reader receives no more frames while this many bytes are in transit. */
const maxBufferedBytes = 128 * 1024;

/** Frames with the current state of these streams. */
export interface FeedUpdate {
  readonly streamIds: readonly string[];
  /** The frames by stream ID. Permanently deleted resources have no frame. */
  readonly frames: ReadonlyMap<string, FeedFrame>;
  /** The frames include all events up to this position. */
  readonly position: number;
}

export class FeedSubscriber {
  readonly socket: WebSocket;
  readonly credential: Credential;
  readonly #waiting = new Set<string>();
  readonly #onRoom: () => void;
  /** A new subscriber must reload, because it missed earlier changes. */
  #mustResync = true;
  #rights: string | undefined;

  /** @param onRoom called when frames can be sent again */
  constructor(socket: WebSocket, credential: Credential, onRoom: () => void) {
    this.socket = socket;
    this.credential = credential;
    this.#onRoom = onRoom;
  }

  /** Whether pending changes can be sent. */
  get isReady(): boolean {
    return (this.#mustResync || this.#waiting.size > 0) && this.#hasRoom();
  }

  /** Names of the streams with pending changes, the oldest first. */
  get waiting(): Iterable<string> {
    return this.#waiting;
  }

  /** Records a change to a stream. */
  note(streamId: string): void {
    if (this.#mustResync) return;
    this.#waiting.add(streamId);
    if (this.#waiting.size > maxWaiting) this.resync();
  }

  /** Asks the client to reload everything. */
  resync(): void {
    this.#waiting.clear();
    this.#mustResync = true;
  }

  /** Updates the owner. If the visible groups have changed, the client must reload. */
  ownedBy({ role, groupIds }: Principal): void {
    const rights = JSON.stringify([role, groupIds.toSorted()]);
    if (this.#rights !== undefined && this.#rights !== rights) this.resync();
    this.#rights = rights;
  }

  /** Sends as many pending changes as fit in the buffer.
   *  @param owner the current owner */
  deliver(owner: Principal, { streamIds, frames, position }: FeedUpdate): void {
    this.ownedBy(owner);
    if (this.#mustResync) {
      this.#mustResync = false;
      this.#send(Buffer.from(JSON.stringify({ type: 'resync', position })));
    }
    for (const streamId of streamIds) {
      if (!this.#hasRoom()) return;
      const isWaiting = this.#waiting.delete(streamId);
      const told = frames.get(streamId);
      if (isWaiting && told?.isFor(owner) === true) this.#send(told.frame);
    }
  }

  /** Sends short-lived frames while the buffer has space, and drops the others.
   *  @param owner the owner with current rights */
  deliverPassing(owner: Principal, frames: readonly FeedFrame[]): void {
    for (const { isFor, frame } of frames) {
      if (this.#mustResync || !this.#hasRoom()) return;
      if (isFor(owner)) this.#send(frame);
    }
  }

  /** Sends a heartbeat if the buffer has space. */
  beat(position: number): void {
    if (this.#mustResync || !this.#hasRoom()) return;
    this.#send(Buffer.from(JSON.stringify({ type: 'heartbeat', position })));
  }

  #send(frame: Buffer): void {
    this.socket.send(frame, { binary: false }, () => {
      if (this.isReady) this.#onRoom();
    });
  }

  #hasRoom(): boolean {
    const { socket } = this;
    return socket.readyState === socket.OPEN && socket.bufferedAmount < maxBufferedBytes;
  }
}
