/** Delivers runs to waiting clients in the order of their requests. A claimed run that could not be sent returns to the
 *  queue. */
import type { Bus } from '#domain/ports/bus.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { groupsOf, may, type Caller, type Callers, type Credential } from '../callers.ts';
import type { Session } from '../session.ts';
import { afterOrGone } from '../waiting.ts';
import type { Leased, Leases } from './leases.ts';

/** Polls in addition to bus messages, which may be lost. */
const pollEveryMs = 1_000;

export interface JobDispatcherOptions {
  readonly leases: Leases;
  readonly callers: Callers;
  readonly bus: Bus;
  readonly logger: Logger;
}

/** The result of waiting: `undefined` after a timeout, and `unauthorized` if the credential is no longer valid. */
export type PopResult = Leased | 'unauthorized' | undefined;

interface Waiter {
  readonly credential: Credential;
  /** Delivers the result. @returns false if the client is no longer waiting */
  readonly give: (taken: PopResult) => boolean;
}

export class JobDispatcher {
  readonly #options: JobDispatcherOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #loop: Loop;
  readonly #unsubscribe: () => void;

  constructor(options: JobDispatcherOptions) {
    this.#options = options;
    this.#loop = startLoop({
      name: 'deliver runs',
      everyMs: pollEveryMs,
      runOnce: (signal) => this.#serve(signal),
      logger: options.logger,
    });
    this.#unsubscribe = options.bus.subscribe('queue', () => this.#loop.wake());
  }

  /** Claims the next run without waiting. */
  async take(caller: Caller): Promise<Leased | undefined> {
    return await this.#options.leases.claim(caller);
  }

  /** Adds the client to the end of the queue of waiting clients, and waits for a run.
   *  @param forMs the timeout; Infinity waits until `signal` is aborted */
  async wait(credential: Credential, forMs: number, signal: AbortSignal): Promise<PopResult> {
    const { promise, resolve } = Promise.withResolvers<PopResult>();
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

  /** Waits for the timeout without claiming a run. */
  async idle(forMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      afterOrGone(forMs, signal, resolve);
    });
  }

  /** Records the start of a delivered run, or returns an undelivered run to the queue. It never throws. If recording
   *  fails, the client's next report records the start, or the lease expires. */
  async settle(leased: Leased, sent: boolean, session: Session): Promise<void> {
    const { leases, logger, bus } = this.#options;
    const { jobId, caller, run } = leased;
    const { runId, correlationId } = run;
    try {
      if (sent) {
        const fence = await leases.start({ runId, correlationId, jobId }, { caller, session });
        if (fence === undefined) logger.info({ runId }, 'delivered run had already ended');
      } else {
        await leases.release(leased);
        bus.publish({ topic: 'queue' });
      }
    } catch (error) {
      logger.warn({ error, runId, sent }, 'outcome of a job could not be recorded');
    }
  }

  /** Ends all waits. Calling it again has no effect. */
  async close(): Promise<void> {
    this.#unsubscribe();
    for (const waiter of this.#waiters) waiter.give(undefined);
    await this.#loop.stop();
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { callers, leases } = this.#options;
    const empty = new Set<string>();
    for (const waiter of this.#waiters) {
      if (signal.aborted) return;
      const caller = await callers.callerOf(waiter.credential);
      if (caller === undefined || !may(caller, 'runs.start')) {
        waiter.give('unauthorized');
        continue;
      }
      const groups = groupsOf(caller)?.join(' ') ?? 'all';
      if (empty.has('all') || empty.has(groups) || !this.#waiters.has(waiter)) continue;
      const leased = await leases.claim(caller);
      if (leased === undefined) empty.add(groups);
      else if (!waiter.give(leased)) await leases.release(leased);
    }
  }
}
