/** Hands out runs, to those who wait in the order in which they came. What was leased and could not be sent
 *  goes back. */
import type { Bus } from '#domain/ports/bus.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { groupsOf, may, type Caller, type Callers, type Credential } from '../callers.ts';
import type { Session } from '../session.ts';
import { afterOrGone } from '../waiting.ts';
import type { Leased, Leases } from './leases.ts';

/** Messages of the bus may be lost: looking now and then is the guarantee. */
const lookEveryMs = 1_000;

export interface DeskParts {
  readonly leases: Leases;
  readonly callers: Callers;
  readonly bus: Bus;
  readonly logger: Logger;
}

/** `undefined`: the time is over. `nobody`: the credential counts no longer. */
export type Taken = Leased | 'nobody' | undefined;

interface Waiter {
  readonly credential: Credential;
  /** @returns false where it waits no longer */
  readonly give: (taken: Taken) => boolean;
}

export class Desk {
  readonly #parts: DeskParts;
  readonly #waiters = new Set<Waiter>();
  readonly #loop: Loop;
  readonly #unsubscribe: () => void;

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#loop = startLoop({
      name: 'hand out runs',
      everyMs: lookEveryMs,
      runOnce: (signal) => this.#serve(signal),
      logger: parts.logger,
    });
    this.#unsubscribe = parts.bus.subscribe('queue', () => this.#loop.wake());
  }

  /** Takes the next run, at once or not at all. */
  async take(caller: Caller): Promise<Leased | undefined> {
    return await this.#parts.leases.claim(caller);
  }

  /** Waits for a run, behind those who wait already.
   *  @param forMs Infinity waits until `signal` says that nobody wants it any more */
  async wait(credential: Credential, forMs: number, signal: AbortSignal): Promise<Taken> {
    const { promise, resolve } = Promise.withResolvers<Taken>();
    const waiter: Waiter = {
      credential,
      give: (taken) => {
        resolve(taken);
        return this.#waiters.delete(waiter);
      },
    };
    this.#waiters.add(waiter);
    this.#loop.wake();
    const cancel = afterOrGone(forMs, signal, () => waiter.give(undefined));
    return await promise.finally(cancel);
  }

  /** Waits for what never comes. */
  async idle(forMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      afterOrGone(forMs, signal, resolve);
    });
  }

  /** A run was handed over, or could not be. Never fails: a lease ends by itself, and its holder may say
   *  that it has started. */
  async settle(leased: Leased, sent: boolean, session: Session): Promise<void> {
    const { leases, logger, bus } = this.#parts;
    const { jobId, caller, run } = leased;
    const { runId } = run;
    try {
      if (sent) {
        const fence = await leases.start({ runId, jobId }, { caller, session });
        if (fence === undefined) logger.info({ runId }, 'handed-over run had already ended');
      } else {
        await leases.giveBack(leased);
        bus.publish({ topic: 'queue' });
      }
    } catch (error) {
      logger.warn({ error, runId, sent }, 'outcome of a job could not be recorded');
    }
  }

  /** Lets everybody go; safe twice. */
  async close(): Promise<void> {
    this.#unsubscribe();
    for (const waiter of this.#waiters) waiter.give(undefined);
    await this.#loop.stop();
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { callers, leases } = this.#parts;
    const empty = new Set<string>();
    for (const waiter of this.#waiters) {
      if (signal.aborted) return;
      const caller = await callers.callerOf(waiter.credential);
      if (caller === undefined || !may(caller, 'runs.start')) {
        waiter.give('nobody');
        continue;
      }
      const groups = groupsOf(caller)?.join(' ') ?? 'all';
      if (empty.has('all') || empty.has(groups) || !this.#waiters.has(waiter)) continue;
      const leased = await leases.claim(caller);
      if (leased === undefined) empty.add(groups);
      else if (!waiter.give(leased)) await leases.giveBack(leased);
    }
  }
}
