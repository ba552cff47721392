/** Runs as spans, by OpenTelemetry's conventions for CI/CD: `RUN <script>` from the request for a run to its
 *  end, made by whichever process recorded that end, and the steps of the run below it. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RecordedEvent, StreamId } from '#domain/kernel/event.ts';
import type { RunFinished, RunQueued, RunStarted } from '#domain/run/events.ts';
import type { Logger } from '../logger.ts';
import { spanIdOf, traceIdOf, type Span, type Tracing } from './tracing.ts';

export interface RunSpansParts {
  readonly tracing: Tracing;
  /** The events of a stream. */
  readonly read: (streamId: StreamId) => Promise<readonly RecordedEvent[]>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** What the steps of a run are known by. */
export interface TracedRun {
  readonly runId: string;
  readonly correlationId: string;
}

/** Below the span of a run, in this order. Their places make their ids: none goes elsewhere, ever. */
const steps = ['queue', 'prepare', 'execute'] as const;
export type RunStep = (typeof steps)[number];

/** Whose requests are spans themselves; other runs begin by what the platform does. */
const asked = new Set(['manual', 'api', 'webhook', 'mcp', 'rerun']);

export class RunSpans {
  readonly #parts: RunSpansParts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(parts: RunSpansParts) {
    this.#parts = parts;
  }

  /** Records the spans of events that this process has recorded. Nothing waits for it. */
  recorded(events: readonly Recorded[]): void {
    for (const event of events) {
      if (event.type !== 'RunFinished') continue;
      const work = this.#trace(event)
        .catch((error: unknown) => this.#parts.logger.warn({ error }, 'run was not traced'))
        .finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    }
  }

  /** Resolves when all that was recorded so far is traced. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #trace(finished: RecordedEvent<RunFinished>): Promise<void> {
    const { tracing, read } = this.#parts;
    const events = (await read(finished.streamId)) as readonly Recorded[];
    const queued = events.find((event) => event.type === 'RunQueued');
    const started = events.find((event) => event.type === 'RunStarted');
    if (queued === undefined) return;
    const { actor } = finished.metadata;
    // A runtime says itself what it did with a run, and knows more of it.
    if (actor.kind !== 'system' || actor.name !== 'runtime') {
      const run = { runId: queued.data.runId, correlationId: queued.metadata.correlationId };
      const [startMs, endMs] = [queued.recordedAt, finished.recordedAt].map(Number) as [
        number,
        number,
      ];
      const startedMs = started?.recordedAt.getTime();
      recordStep(tracing, run, 'queue', startMs, startedMs ?? endMs);
      if (startedMs !== undefined) recordStep(tracing, run, 'execute', startedMs, endMs);
    }
    const span = spanOf(queued, started, finished);
    if (span !== undefined) tracing.record(span);
  }
}

/** Records a step of a run. */
export function recordStep(
  tracing: Tracing,
  { runId, correlationId }: TracedRun,
  step: RunStep,
  startMs: number,
  endMs: number,
): void {
  const traceId = traceIdOf(correlationId);
  if (traceId === undefined) return;
  const spanId = spanIdOf(runId);
  // Different for each step of the run, and never one of another run.
  const number = BigInt(steps.indexOf(step) + 1);
  tracing.record({
    traceId,
    spanId: (BigInt(`0x${spanId}`) ^ number).toString(16).padStart(16, '0'),
    parentSpanId: spanId,
    name: step,
    kind: 'internal',
    startMs,
    endMs,
    attributes: { 'cicd.pipeline.task.name': step, 'cicd.pipeline.run.id': runId },
  });
}

function spanOf(
  queued: RecordedEvent<RunQueued>,
  started: RecordedEvent<RunStarted> | undefined,
  finished: RecordedEvent<RunFinished>,
): Span | undefined {
  const { runId, scriptId, scriptName, scriptVersion, trigger, attempt } = queued.data;
  const traceId = traceIdOf(queued.metadata.correlationId);
  if (traceId === undefined) return undefined;
  const { outcome, exitCode } = finished.data;
  const result = resultOf(outcome);
  return {
    traceId,
    spanId: spanIdOf(runId),
    parentSpanId: asked.has(trigger.type) ? spanIdOf(queued.metadata.commandId) : undefined,
    name: `RUN ${scriptName}`,
    kind: 'server',
    startMs: queued.recordedAt.getTime(),
    endMs: finished.recordedAt.getTime(),
    attributes: {
      'cicd.pipeline.action.name': 'RUN',
      'cicd.pipeline.name': scriptName,
      'cicd.pipeline.run.id': runId,
      'cicd.pipeline.result': result,
      'cicd.worker.id': started?.data.runtimeId,
      'orchestrator.script.id': scriptId,
      'orchestrator.script.version': scriptVersion,
      'orchestrator.run.trigger': trigger.type,
      'orchestrator.run.attempt': attempt,
      'process.exit.code': exitCode ?? undefined,
      'error.type': result === 'success' ? undefined : outcome,
    },
    problem: result === 'success' || result === 'cancellation' ? undefined : outcome,
  };
}

/** The values of `cicd.pipeline.result`. */
function resultOf(outcome: RunFinished['data']['outcome']): string {
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
