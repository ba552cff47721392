/** The spans of a run in its runtime: waiting, preparing, executing. The process that records the end of the run
 *  creates its main span (`services/shared/tracing/run-spans.ts`). */
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { recordStep, type RunStep } from '#services/shared/tracing/run-spans.ts';
import type { Tracing } from '#services/shared/tracing/tracing.ts';

/** Records the steps of one run. */
export interface RunTrace {
  /** The environment and the files are ready. */
  prepared(): void;
  /** The process was started. */
  started(): void;
  /** The process has ended. */
  exited(): void;
  /** Its end is recorded. */
  ended(): void;
}

const untraced: RunTrace = {
  prepared: () => undefined,
  started: () => undefined,
  exited: () => undefined,
  ended: () => undefined,
};

/** @param tracing undefined: nothing is recorded */
export function runTrace(run: ClaimedRun, tracing: Tracing | undefined): RunTrace {
  if (tracing === undefined) return untraced;
  const claimedMs = Date.now();
  let preparedMs: number | undefined;
  let startedMs: number | undefined;
  let exitedMs: number | undefined;
  const step = (name: RunStep, startMs: number, endMs: number) =>
    recordStep(tracing, run, name, startMs, endMs);
  return {
    prepared: () => (preparedMs ??= Date.now()),
    started: () => (startedMs ??= Date.now()),
    exited: () => (exitedMs ??= Date.now()),
    ended: () => {
      const endMs = exitedMs ?? Date.now();
      step('queue', Math.min(run.queuedAt.getTime(), claimedMs), claimedMs);
      step('prepare', claimedMs, startedMs ?? preparedMs ?? endMs);
      if (startedMs !== undefined) step('execute', startedMs, endMs);
    },
  };
}
