/** One socket that follows everything its owner may see. What it has yet to be told is kept as names
 *  alone, once each, and only so many: beyond that it is told to look anew. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { WebSocket } from 'ws';
import type { Credential } from '../http/credentials/authentication.ts';
import type { FeedFrame } from './feed-frames.ts';

const maxWaiting = 1000;
/** What may be on its way to a reader at once. */
const maxBufferedBytes = 128 * 1024;

/** How some streams are now. */
export interface News {
  readonly streamIds: readonly string[];
  /** Of a stream that is nowhere there is none. */
  readonly frames: ReadonlyMap<string, FeedFrame>;
  /** Up to here everything has been noted. */
  readonly position: number;
}

export class FeedSubscriber {
  readonly socket: WebSocket;
  readonly credential: Credential;
  readonly #waiting = new Set<string>();
  readonly #onRoom: () => void;
  /** Begins with this, as what was before is not told. */
  #mustResync = true;
  #rights: string | undefined;

  /** @param onRoom called when there is room for more that waits */
  constructor(socket: WebSocket, credential: Credential, onRoom: () => void) {
    this.socket = socket;
    this.credential = credential;
    this.#onRoom = onRoom;
  }

  /** Whether something waits that could be sent now. */
  get isReady(): boolean {
    return (this.#mustResync || this.#waiting.size > 0) && this.#hasRoom();
  }

  /** Names of the streams that it has yet to be told of, the oldest first. */
  get waiting(): Iterable<string> {
    return this.#waiting;
  }

  /** A stream has changed. */
  note(streamId: string): void {
    if (this.#mustResync) return;
    this.#waiting.add(streamId);
    if (this.#waiting.size > maxWaiting) this.resync();
  }

  /** It has to look at everything anew. */
  resync(): void {
    this.#waiting.clear();
    this.#mustResync = true;
  }

  /** Takes its owner as of now: who sees other groups than before has to look anew. */
  ownedBy({ role, groupIds }: Principal): void {
    const rights = JSON.stringify([role, groupIds.toSorted()]);
    if (this.#rights !== undefined && this.#rights !== rights) this.resync();
    this.#rights = rights;
  }

  /** Tells what there is room for. @param owner as of now */
  tell(owner: Principal, { streamIds, frames, position }: News): void {
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

  /** Sends frames that are soon out of date, as far as there is room. @param owner with the current rights */
  tellInPassing(owner: Principal, frames: readonly FeedFrame[]): void {
    for (const { isFor, frame } of frames) {
      if (this.#mustResync || !this.#hasRoom()) return;
      if (isFor(owner)) this.#send(frame);
    }
  }

  /** A sign of life, where there is room for one. */
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
