/** A run as spans, by OpenTelemetry's conventions for CI/CD: `RUN <script>` from the request for it to its
 *  end, and below it waiting, preparing and executing. */
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { FinishRun, AbandonRun } from '#domain/run/commands.ts';
import { spanIdOf, traceIdOf, type Tracing } from '#services/shared/tracing/tracing.ts';

type Outcome = FinishRun['outcome'] | AbandonRun['failure'];

/** Takes note of the steps of one run. */
export interface RunTrace {
  /** The environment and the files are there. */
  prepared(): void;
  /** The process was let go. */
  started(): void;
  ended(outcome: Outcome, exitCode: number | null): void;
}

const untraced: RunTrace = {
  prepared: () => undefined,
  started: () => undefined,
  ended: () => undefined,
};

/** Whose requests are spans themselves; other runs begin by what the platform does. */
const asked = new Set(['manual', 'api', 'webhook', 'mcp', 'rerun']);

/** @param tracing undefined: nothing is noted */
export function runTrace(
  run: ClaimedRun,
  runtimeId: string,
  tracing: Tracing | undefined,
): RunTrace {
  const traceId = traceIdOf(run.correlationId);
  if (tracing === undefined || traceId === undefined) return untraced;
  const spanId = spanIdOf(run.runId);
  const claimedMs = Date.now();
  let preparedMs: number | undefined;
  let startedMs: number | undefined;
  const step = (name: string, number: number, startMs: number, endMs: number) =>
    tracing.record({
      traceId,
      // Different for each step of the run, and never one of another run.
      spanId: (BigInt(`0x${spanId}`) ^ BigInt(number)).toString(16).padStart(16, '0'),
      parentSpanId: spanId,
      name,
      kind: 'internal',
      startMs,
      endMs,
      attributes: { 'cicd.pipeline.task.name': name, 'cicd.pipeline.run.id': run.runId },
    });
  return {
    prepared: () => (preparedMs ??= Date.now()),
    started: () => (startedMs ??= Date.now()),
    ended: (outcome, exitCode) => {
      const endMs = Date.now();
      const queuedMs = Math.min(run.queuedAt.getTime(), claimedMs);
      step('queue', 1, queuedMs, claimedMs);
      step('prepare', 2, claimedMs, startedMs ?? preparedMs ?? endMs);
      if (startedMs !== undefined) step('execute', 3, startedMs, endMs);
      const result = resultOf(outcome);
      tracing.record({
        traceId,
        spanId,
        parentSpanId: asked.has(run.triggerType) ? spanIdOf(run.commandId) : undefined,
        name: `RUN ${run.scriptName}`,
        kind: 'server',
        startMs: queuedMs,
        endMs,
        attributes: {
          'cicd.pipeline.action.name': 'RUN',
          'cicd.pipeline.name': run.scriptName,
          'cicd.pipeline.run.id': run.runId,
          'cicd.pipeline.result': result,
          'cicd.worker.id': runtimeId,
          'orchestrator.script.id': run.scriptId,
          'orchestrator.script.version': run.scriptVersion,
          'orchestrator.run.trigger': run.triggerType,
          'orchestrator.run.attempt': run.attempt,
          'process.exit.code': exitCode ?? undefined,
          'error.type': result === 'success' ? undefined : outcome,
        },
        problem: result === 'success' || result === 'cancellation' ? undefined : outcome,
      });
    },
  };
}

/** The values of `cicd.pipeline.result`. */
function resultOf(outcome: Outcome): string {
  switch (outcome) {
    case 'success':
      return 'success';
    case 'exit_code':
    case 'cpu_limit':
    case 'memory_limit':
      return 'failure';
    case 'timeout':
      return 'timeout';
    case 'stopped':
      return 'cancellation';
    case 'environment_error':
    case 'sandbox_error':
    case 'runtime_lost':
    case 'expired':
      return 'error';
  }
}
