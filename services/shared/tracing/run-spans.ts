/**
 * Records runs as spans, following OpenTelemetry's CI/CD conventions. The span `RUN <script>` lasts from the run's
 * request to its completion and contains the run's steps. The process that records the outcome creates the span.
 */
import type { Recorded } from '#domain/aggregates.ts';
import type { RecordedEvent, StreamId } from '#domain/kernel/event.ts';
import type { RunFinished, RunQueued, RunStarted } from '#domain/run/events.ts';
import type { TriggerType } from '#domain/run/run.ts';
import type { Logger } from '../logger.ts';
import { spanIdOf, traceIdOf, type AttributeValue, type Span, type Tracing } from './tracing.ts';

export interface RunSpansDeps {
  readonly tracing: Tracing;
  /** Reads the events of a stream. */
  readonly read: (streamId: StreamId) => Promise<readonly RecordedEvent[]>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** The values that identify a run in traces. */
export interface TracedRun {
  readonly runId: string;
  readonly correlationId: string;
}

/** The steps of a run in order. Span IDs are derived from a step's index, so the order must not change. */
const steps = ['queue', 'prepare', 'execute'] as const;
export type RunStep = (typeof steps)[number];

/** Whether the request for a run with this trigger has its own span. All other runs start a new trace or join the trace
 *  of another run. */
const isRequested: Readonly<Record<TriggerType, boolean>> = {
  manual: true,
  api: true,
  schedule: false,
  webhook: true,
  event: false,
  retry: false,
  rerun: true,
  mcp: true,
  queue: false,
};

export class RunSpans {
  readonly #deps: RunSpansDeps;
  readonly #underWay = new Set<Promise<void>>();

  constructor(deps: RunSpansDeps) {
    this.#deps = deps;
  }

  /** Creates the spans for events that this process recorded, in the background. */
  recorded(events: readonly Recorded[]): void {
    for (const event of events) {
      if (event.type !== 'RunFinished') continue;
      const work = this.#trace(event)
        .catch((error: unknown) => this.#deps.logger.warn({ error }, 'run was not traced'))
        .finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    }
  }

  /** Resolves when the spans of all events recorded so far have been created. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #trace(finished: RecordedEvent<RunFinished>): Promise<void> {
    const { tracing, read } = this.#deps;
    const events = (await read(finished.streamId)) as readonly Recorded[];
    const queued = events.find((event) => event.type === 'RunQueued');
    const started = events.find((event) => event.type === 'RunStarted');
    if (queued === undefined) return;
    const { actor } = finished.metadata;
    // If the runtime recorded the outcome, the runtime has already recorded more detailed steps.
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

/** Records a span for a step of a run. */
export function recordStep(
  tracing: Tracing,
  { runId, correlationId }: TracedRun,
  step: RunStep,
  startMs: number,
  endMs: number,
): void {
  const traceId = traceIdOf(correlationId);
  if (traceId === undefined) return;
  tracing.record({
    traceId,
    spanId: stepSpanId(runId, step),
    parentSpanId: spanIdOf(runId),
    name: step,
    kind: 'internal',
    startMs,
    endMs,
    attributes: { 'cicd.pipeline.task.name': step, 'cicd.pipeline.run.id': runId },
  });
}

/** The fields of a script-defined span that tracing needs. */
export interface TracedSpan {
  /** The span ID, 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, AttributeValue | null>>;
}

/** Records a span from a script as a child of the run's `execute` step. Active spans are ignored. */
export function recordScriptSpan(
  tracing: Tracing,
  { runId, correlationId }: TracedRun,
  span: TracedSpan,
): void {
  const traceId = traceIdOf(correlationId);
  if (traceId === undefined || span.endedAt === null) return;
  const attributes = Object.entries(span.attributes).map(([key, value]) => [
    key,
    value ?? undefined,
  ]);
  tracing.record({
    traceId,
    spanId: span.spanId,
    parentSpanId: span.parentId ?? stepSpanId(runId, 'execute'),
    name: span.name,
    kind: 'internal',
    startMs: span.startedAt.getTime(),
    endMs: span.endedAt.getTime(),
    attributes: {
      ...(Object.fromEntries(attributes) as Span['attributes']),
      'cicd.pipeline.run.id': runId,
    },
    problem: span.failed ? 'exception' : undefined,
  });
}

/** Returns a span ID that is unique for each step of each run. */
function stepSpanId(runId: string, step: RunStep): string {
  const number = BigInt(steps.indexOf(step) + 1);
  return (BigInt(`0x${spanIdOf(runId)}`) ^ number).toString(16).padStart(16, '0');
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
    parentSpanId: parentOf(queued),
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

/** Returns the parent of a run's span: the span of the request, or of the run that triggered this run. */
function parentOf({ data: { trigger }, metadata }: RecordedEvent<RunQueued>): string | undefined {
  if (isRequested[trigger.type]) return spanIdOf(metadata.commandId);
  return 'runId' in trigger ? spanIdOf(trigger.runId) : undefined;
}

/** Returns the value of `cicd.pipeline.result` for an outcome. */
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
    case 'runtime_stopped':
    case 'expired':
      return 'error';
  }
}
