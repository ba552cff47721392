/**
 * Counts the finished runs that this process recorded. Exactly one process commits each outcome, so the sum over all
 * processes counts each run once.
 */
import type { Recorded } from '#domain/aggregates.ts';
import type { RunFinished } from '#domain/run/events.ts';
import { failures, triggerTypes, type TriggerType } from '#domain/run/run.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { triggersOf } from '#infra/postgres/operations/run-triggers.ts';
import { inTime } from './in-time.ts';

type Outcome = RunFinished['data']['outcome'];

export interface RunEndCount {
  readonly outcome: Outcome;
  readonly trigger: TriggerType;
  readonly count: number;
}

const outcomes: readonly Outcome[] = ['success', 'stopped', ...failures];
/** The number of pending outcomes at which triggers are looked up without waiting for the next scrape. */
const maxWaiting = 1_000;
const timeoutMs = 2_000;

export class RunEnds {
  readonly #db: Queryable;
  /** The outcomes of runs whose triggers have not been looked up yet, by run ID. */
  #waiting = new Map<string, Outcome>();
  readonly #counts = new Map<string, RunEndCount>();
  #lookUp: Promise<void> | undefined;

  constructor(db: Queryable) {
    this.#db = db;
    // All counters start at 0, because Prometheus detects no increase in a counter that first appears with the value 1.
    for (const outcome of outcomes)
      for (const trigger of triggerTypes) this.#add(outcome, trigger, 0);
  }

  /** Counts the finished runs in committed events. */
  recorded(events: readonly Recorded[]): void {
    for (const { type, data } of events) {
      if (type === 'RunFinished') this.#waiting.set(data.runId, data.outcome);
    }
    if (this.#waiting.size >= maxWaiting) void this.#settle();
  }

  /** Returns the counts since the process started. Runs whose lookup takes too long are counted in a later call. */
  async counts(): Promise<readonly RunEndCount[]> {
    await inTime(this.#settle(), timeoutMs);
    return [...this.#counts.values()];
  }

  /** Looks up triggers. Concurrent calls share one lookup. */
  #settle(): Promise<void> {
    this.#lookUp ??= this.#countWaiting().finally(() => (this.#lookUp = undefined));
    return this.#lookUp;
  }

  /** While the database is unavailable, outcomes stay pending. */
  async #countWaiting(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const triggers = await triggersOf(this.#db, [...this.#waiting.keys()]).catch(() => []);
    for (const { run_id: runId, trigger_type: trigger } of triggers) {
      const outcome = this.#waiting.get(runId);
      if (outcome !== undefined) this.#add(outcome, trigger, 1);
      this.#waiting.delete(runId);
    }
  }

  #add(outcome: Outcome, trigger: TriggerType, more: number): void {
    const key = `${outcome} ${trigger}`;
    const count = (this.#counts.get(key)?.count ?? 0) + more;
    this.#counts.set(key, { outcome, trigger, count });
  }
}
