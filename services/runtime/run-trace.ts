/** Measures the steps of a run on its runtime: waiting, preparing and executing. The times are recorded in the run's
 *  events, and exported as spans. The process that records the end of the run exports the run's own span
 *  (`services/shared/tracing/run-spans.ts`). */
import type { Clock } from '#domain/ports/clock.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { RunTiming } from '#domain/run/run.ts';
import { recordStep, type RunStep } from '#services/shared/tracing/run-spans.ts';
import type { Tracing } from '#services/shared/tracing/tracing.ts';

export interface RunTraceDeps {
  readonly clock: Clock;
  /** The span exporter. If undefined, no spans are exported. */
  readonly tracing: Tracing | undefined;
}

export class RunTrace {
  readonly #run: ClaimedRun;
  readonly #deps: RunTraceDeps;
  readonly #times: { -readonly [Step in keyof RunTiming]: Date } = {};

  /** Create this object when the run is claimed. */
  constructor(run: ClaimedRun, deps: RunTraceDeps) {
    this.#run = run;
    this.#deps = deps;
    this.reached('claimedAt');
  }

  /** The times that have been set so far. */
  get timing(): RunTiming {
    return Object.fromEntries(
      Object.entries(this.#times).map(([step, time]) => [step, time.toISOString()]),
    );
  }

  /** Sets the time of a step to the current time, unless it is already set. */
  reached(step: keyof RunTiming): void {
    this.#times[step] ??= this.#deps.clock.now();
  }

  /** Exports the steps as spans. Call this method after the run's outcome has been recorded. */
  ended(): void {
    const { clock, tracing } = this.#deps;
    if (tracing === undefined) return;
    const { claimedAt, preparedAt, startedAt, exitedAt } = this.#times;
    const end = exitedAt ?? clock.now();
    const claimed = claimedAt ?? end;
    const record = (name: RunStep, from: Date, to: Date) =>
      recordStep(tracing, this.#run, name, from.getTime(), to.getTime());
    record('queue', this.#run.queuedAt < claimed ? this.#run.queuedAt : claimed, claimed);
    record('prepare', claimed, startedAt ?? preparedAt ?? end);
    if (startedAt !== undefined) record('execute', startedAt, end);
  }
}
