/** Tells the sockets at `/ws` what has changed. The events say what has changed, so
 *  nothing is missed; what is told is read when it is told, so many changes of one thing are one
 *  frame. The bus only hurries. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Position } from '#domain/kernel/event.ts';
import {
  changesAfter,
  settledEnd,
  type Changes,
} from '#infra/postgres/event-store/changed-streams.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import type { Services } from '../services.ts';
import { framesOf, isTold } from './feed-frames.ts';
import type { FeedSubscriber } from './feed-subscriber.ts';
import { ownersOf } from './find-owners.ts';
import { ProgressFeed } from './progress-feed.ts';

const lookEveryMs = 1000;
/** Pause between two frames of one thing. */
const gatherMs = 100;
const eventsAtOnce = 500;
/** What is read before it is told; what is left comes in the next round. */
const pagesAtOnce = 20;
const framesAtOnce = 100;

export interface FeedOptions {
  /** Between two signs of life. */
  readonly heartbeatMs: number;
}

export class FeedHub {
  readonly #services: Services;
  readonly #subscribers = new Set<FeedSubscriber>();
  readonly #unsubscribe: () => void;
  readonly #changes: Loop;
  readonly #heartbeats: Loop;
  readonly #progress: ProgressFeed;
  /** Everything up to here has been noted; nobody looks while nobody listens. */
  #place: Position | undefined;

  constructor(services: Services, { heartbeatMs }: FeedOptions) {
    this.#services = services;
    const { bus, logger } = services;
    this.#unsubscribe = bus.subscribe('events', () => this.wake());
    this.#changes = startLoop({
      name: 'tell what has changed',
      everyMs: lookEveryMs,
      runOnce: (signal) => this.#runOnce(signal),
      logger,
    });
    this.#progress = new ProgressFeed(services, this.#subscribers);
    this.#heartbeats = startLoop({
      name: 'send heartbeats',
      everyMs: heartbeatMs,
      runOnce: () => Promise.resolve(this.#beat()),
      logger,
    });
  }

  /** Follows everything from now on. */
  add(subscriber: FeedSubscriber): void {
    this.#subscribers.add(subscriber);
    this.wake();
  }

  remove(subscriber: FeedSubscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Looks at once for what is to be told. */
  wake(): void {
    if (this.#subscribers.size > 0) this.#changes.wake();
  }

  /** Safe twice. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([this.#changes.stop(), this.#heartbeats.stop(), this.#progress.close()]);
  }

  async #runOnce(signal: AbortSignal): Promise<boolean> {
    if (this.#subscribers.size === 0) {
      this.#place = undefined;
      return false;
    }
    this.#place ??= await settledEnd(this.#services.database);
    const isMore = await this.#noteChanges();
    const hasTold = await this.#tell(this.#place);
    if (this.#ready().length > 0) return true;
    if (isMore || hasTold) await pause(gatherMs, undefined, { signal });
    return isMore;
  }

  /** @returns whether there is more to note at once, or soon */
  async #noteChanges(): Promise<boolean> {
    for (let page = 0; page < pagesAtOnce; page += 1) {
      const place = this.#place;
      if (place === undefined) return false;
      const changes = await changesAfter(this.#services.database, place, eventsAtOnce);
      this.#note(changes);
      if (!changes.isMore) return changes.isHeldBack;
    }
    return true;
  }

  #note({ streams, end }: Changes): void {
    const told = new Set(streams.map((one) => one.streamId).filter(isTold));
    // Who saw a script in its old group is not told where it went, nor that it was this one.
    const mustResync = streams.some((one) => one.regrouped || one.streamId.startsWith('group-'));
    for (const one of this.#subscribers) {
      for (const streamId of told) one.note(streamId);
      if (mustResync) one.resync();
    }
    this.#place = end ?? this.#place;
  }

  /** @returns whether anybody was told anything */
  async #tell({ globalPosition: position }: Position): Promise<boolean> {
    const ready = this.#ready();
    if (ready.length === 0) return false;
    const streamIds = nextOf(ready);
    const frames = await framesOf(streamIds, this.#services);
    // Asked last, so that nobody is told what they may not see any more.
    const ownerOf = await ownersOf(ready, this.#services);
    for (const one of ready) {
      const owner = ownerOf(one.credential);
      if (owner === undefined) this.remove(one);
      else one.tell(owner, { streamIds, frames, position });
      this.#toTheEnd(one);
    }
    return true;
  }

  #ready(): readonly FeedSubscriber[] {
    return [...this.#subscribers].filter((one) => one.isReady);
  }

  /** Whoever was served comes last the next time, when there is more than fits into a round. */
  #toTheEnd(one: FeedSubscriber): void {
    if (this.#subscribers.delete(one)) this.#subscribers.add(one);
  }

  #beat(): void {
    const position = this.#place?.globalPosition;
    if (position === undefined) return;
    for (const one of this.#subscribers) one.beat(position);
  }
}

/** What is told in one round: the oldest of what waits, first for those who were served longest ago. */
function nextOf(subscribers: readonly FeedSubscriber[]): readonly string[] {
  const next = new Set<string>();
  for (const { waiting } of subscribers) {
    for (const streamId of waiting) {
      next.add(streamId);
      if (next.size === framesAtOnce) return [...next];
    }
  }
  return [...next];
}
