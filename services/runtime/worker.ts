/** Claims runs for free slots, renews their leases, and forwards stop requests. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClaimedRun, RunQueue } from '#domain/ports/run-queue.ts';
import type { Logger } from '#services/shared/logger.ts';
import type { EndRequest, Execution } from './execution.ts';

export interface WorkerDeps {
  readonly runtimeId: string;
  readonly slots: number;
  readonly leaseSeconds: number;
  readonly labels: readonly string[];
  readonly queue: RunQueue;
  readonly newExecution: (run: ClaimedRun, leaseEndsAtMs: number) => Execution;
  /** Called when a slot has become free. */
  readonly onFree: () => void;
  readonly logger: Logger;
}

/** The delay before a postponed run is retried. Runs are postponed if a store is unavailable during their
 *  preparation. */
const postponedSeconds = 5;

interface Held {
  readonly execution: Execution;
  readonly done: Promise<void>;
}

export class Worker {
  readonly #deps: WorkerDeps;
  readonly #held = new Map<string, Held>();
  #draining = false;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
  }

  /** The number of runs in slots. */
  get running(): number {
    return this.#held.size;
  }

  /** Claims a run for each free slot, and starts the claimed runs.
   *  @returns whether there may be more runs to claim immediately */
  async claimOnce(): Promise<boolean> {
    const { runtimeId, slots, leaseSeconds, labels, queue } = this.#deps;
    const free = slots - this.#held.size;
    if (free <= 0 || this.#draining) return false;
    const askedAtMs = performance.now();
    const claimed = await queue.claim(runtimeId, free, leaseSeconds, labels);
    for (const run of claimed) this.#begin(run, askedAtMs + leaseSeconds * 1000);
    return claimed.length === free && this.#held.size < slots;
  }

  /** Renews all leases. Stops runs whose lease is lost or whose stop was requested. */
  async renewOnce(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length === 0) return;
    const { runtimeId, leaseSeconds, queue } = this.#deps;
    const askedAtMs = performance.now();
    const renewed = await queue.renew(
      runtimeId,
      held.map(({ execution }) => execution.run.runId),
      leaseSeconds,
    );
    const leases = new Map(renewed.map((lease) => [lease.runId, lease]));
    for (const one of held) {
      const lease = leases.get(one.execution.run.runId);
      if (lease === undefined) {
        this.#withdrawn(one);
      } else {
        // The lease starts at the time of the request, because the response may be late.
        one.execution.renewed(askedAtMs + leaseSeconds * 1000);
        if (lease.stopRequested) one.execution.end('stop');
      }
    }
  }

  /** Stops a run if this runtime executes it. */
  end(runId: string, request: EndRequest): void {
    this.#held.get(runId)?.execution.end(request);
  }

  /**
   * Stops claiming runs, and lets active runs continue for this time. Then stops the remaining runs and waits for them
   * to exit. Idempotent.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    const held = [...this.#held.values()];
    const all = Promise.all(held.map(({ done }) => done));
    const timeout = new AbortController();
    await Promise.race([all, wait(timeoutMs, undefined, { signal: timeout.signal })]);
    timeout.abort();
    for (const { execution } of held) execution.end('shutdown');
    await all;
  }

  // Stops an execution whose lease no longer exists. Usually, the run has finished, because its lease is removed with
  // its queue row.
  #withdrawn(held: Held): void {
    if (this.#held.get(held.execution.run.runId) === held) held.execution.end('lost');
  }

  #begin(run: ClaimedRun, leaseEndsAtMs: number): void {
    const { logger, onFree } = this.#deps;
    const execution = this.#deps.newExecution(run, leaseEndsAtMs);
    const done = execution
      .complete()
      .then(async (end) => {
        if (end === 'postponed') await this.#release(run, postponedSeconds);
      })
      .catch(async (error: unknown) => {
        logger.error(
          { error, runId: run.runId, script_name: run.scriptName },
          'run could not be completed',
        );
        if (!execution.started) await this.#release(run);
      })
      .finally(() => {
        this.#held.delete(run.runId);
        onFree();
      });
    this.#held.set(run.runId, { execution, done });
  }

  async #release(run: ClaimedRun, delaySeconds = 0): Promise<void> {
    const { queue, runtimeId, logger } = this.#deps;
    await queue.release(runtimeId, [run.runId], delaySeconds).catch((error: unknown) => {
      // Ignores the failure, because the lease expires automatically.
      logger.warn(
        { error, runId: run.runId, script_name: run.scriptName },
        'run could not be returned to the queue',
      );
    });
  }
}
