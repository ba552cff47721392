/** A socket that follows all resources that its owner may see. Pending changes are stored as stream names without
 *  repeats, up to a limit; beyond it, the client is asked to reload. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { WebSocket } from 'ws';
import type { Credential } from '../http/credentials/authentication.ts';
import type { FeedFrame } from './feed-frames.ts';

const maxWaiting = 1000;
/** The maximum number of bytes in transit to a reader. */
const maxBufferedBytes = 128 * 1024;

/** The current state of some streams. */
export interface FeedUpdate {
  readonly streamIds: readonly string[];
  /** The frames by stream. Permanently deleted resources have none. */
  readonly frames: ReadonlyMap<string, FeedFrame>;
  /** All events up to this position are processed. */
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

  /** @param onRoom called when more pending changes can be stored */
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

  /** Sends as many changes as fit the buffer. @param owner the current owner */
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

  /** Sends frames that are soon out of date, as long as there is space. @param owner with the current rights */
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
