/** Sends changes to the sockets at `/ws`. Changes are read from the events, so no change is missed. Each frame contains
 *  the current state, so several changes to a resource need only one frame. Bus messages only reduce the delay. */
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

const pollEveryMs = 1000;
/** Minimum time between two frames of one resource. */
const gatherMs = 100;
const eventsPerPage = 500;
/** Maximum number of event pages per round. Further pages are read in the next round. */
const pagesPerRound = 20;
const framesPerRound = 100;

export interface FeedOptions {
  /** Time between two heartbeats. */
  readonly heartbeatMs: number;
}

export class FeedHub {
  readonly #services: Services;
  readonly #subscribers = new Set<FeedSubscriber>();
  readonly #unsubscribe: () => void;
  readonly #changes: Loop;
  readonly #heartbeats: Loop;
  readonly #progress: ProgressFeed;
  /** The position of the last processed event. Without subscribers, no events are read. */
  #place: Position | undefined;

  constructor(services: Services, { heartbeatMs }: FeedOptions) {
    this.#services = services;
    const { bus, logger } = services;
    this.#unsubscribe = bus.subscribe('events', () => this.wake());
    this.#changes = startLoop({
      name: 'send changes',
      everyMs: pollEveryMs,
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

  /** Adds a subscriber for all future changes. */
  add(subscriber: FeedSubscriber): void {
    this.#subscribers.add(subscriber);
    this.wake();
  }

  remove(subscriber: FeedSubscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Checks for changes immediately. */
  wake(): void {
    if (this.#subscribers.size > 0) this.#changes.wake();
  }

  /** Stops the hub. Idempotent. */
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
    const hasTold = await this.#deliver(this.#place);
    if (this.#ready().length > 0) return true;
    if (isMore || hasTold) await pause(gatherMs, undefined, { signal });
    return isMore;
  }

  /** Reads new events and records the changed streams.
   *  @returns whether more events can be read now or are expected soon */
  async #noteChanges(): Promise<boolean> {
    for (let page = 0; page < pagesPerRound; page += 1) {
      const place = this.#place;
      if (place === undefined) return false;
      const changes = await changesAfter(this.#services.database, place, eventsPerPage);
      this.#note(changes);
      if (!changes.isMore) return changes.isHeldBack;
    }
    return true;
  }

  #note({ streams, end }: Changes): void {
    const told = new Set(streams.map((one) => one.streamId).filter(isTold));
    // Readers must reload after a change of group. A frame would disclose the script's ID and new group to readers who
    // could see only its previous group.
    const mustResync = streams.some((one) => one.regrouped || one.streamId.startsWith('group-'));
    for (const one of this.#subscribers) {
      for (const streamId of told) one.note(streamId);
      if (mustResync) one.resync();
    }
    this.#place = end ?? this.#place;
  }

  /** Sends pending changes.
   *  @returns whether any changes were pending */
  async #deliver({ globalPosition: position }: Position): Promise<boolean> {
    const ready = this.#ready();
    if (ready.length === 0) return false;
    const streamIds = nextOf(ready);
    const frames = await framesOf(streamIds, this.#services);
    // Reads the owners after the resources, so that a user who has lost access receives nothing.
    const ownerOf = await ownersOf(ready, this.#services);
    for (const one of ready) {
      const owner = ownerOf(one.credential);
      if (owner === undefined || owner.mustSetUpFactor === true) this.remove(one);
      else one.deliver(owner.principal, { streamIds, frames, position });
      this.#toTheEnd(one);
    }
    return true;
  }

  #ready(): readonly FeedSubscriber[] {
    return [...this.#subscribers].filter((one) => one.isReady);
  }

  /** Moves a subscriber to the end of the queue after its changes were sent, because a round may not reach
   *  all subscribers. */
  #toTheEnd(one: FeedSubscriber): void {
    if (this.#subscribers.delete(one)) this.#subscribers.add(one);
  }

  #beat(): void {
    const position = this.#place?.globalPosition;
    if (position === undefined) return;
    for (const one of this.#subscribers) one.beat(position);
  }
}

/** The streams to send in one round: the oldest pending streams of the subscribers that have waited longest. */
function nextOf(subscribers: readonly FeedSubscriber[]): readonly string[] {
  const next = new Set<string>();
  for (const { waiting } of subscribers) {
    for (const streamId of waiting) {
      next.add(streamId);
      if (next.size === framesPerRound) return [...next];
    }
  }
  return [...next];
}
