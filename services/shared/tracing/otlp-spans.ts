/** Samples finished spans and exports them in batches. Span IDs are derived from the IDs of requests and runs. An SDK
 *  tracer would generate its own IDs, so the spans are passed directly to the SDK's processor. */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
  type SpanContext,
} from '@opentelemetry/api';
import { ExportResultCode, hrTimeDuration, millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.ts';
import { version } from '../version.ts';
import type { Span, TelemetryConfig, Tracing } from './tracing.ts';

export interface OtlpSpansOptions {
  readonly exporter: SpanExporter;
  readonly resource: Resource;
  readonly config: TelemetryConfig;
  readonly logger: Pick<Logger, 'warn'>;
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER } as const;
const instrumentationScope = { name: 'orchestrator', version };

export class OtlpSpans implements Tracing {
  readonly #processor: BatchSpanProcessor;
  readonly #sampler: Sampler;
  readonly #resource: Resource;

  constructor({ exporter, resource, config, logger }: OtlpSpansOptions) {
    this.#resource = resource;
    this.#sampler = samplerOf(config);
    this.#processor = new BatchSpanProcessor({
      exporter: reporting(exporter, logger),
      scheduledDelayMillis: config.spanDelayMs,
      exportTimeoutMillis: config.spanTimeoutMs,
      maxQueueSize: config.spanQueue,
      maxExportBatchSize: config.spanBatch,
    });
  }

  record(span: Span): void {
    const context = contextOf(span, span.spanId);
    if (this.#isSampled(span)) this.#processor.onEnd(this.#readable(span, context));
  }

  close(): Promise<void> {
    return this.#processor.shutdown();
  }

  /** Child spans of the platform's own spans are sampled only by trace ID, so that all processes make the same
   *  decision. */
  #isSampled({ hasRemoteParent, parentSpanId, ...span }: Span): boolean {
    const parent =
      hasRemoteParent && parentSpanId !== undefined
        ? trace.setSpanContext(ROOT_CONTEXT, {
            ...contextOf(span, parentSpanId),
            isRemote: true,
          })
        : ROOT_CONTEXT;
    const { decision } = this.#sampler.shouldSample(
      parent,
      span.traceId,
      span.name,
      kinds[span.kind],
      attributesOf(span),
      [],
    );
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  }

  #readable(span: Span, context: SpanContext): ReadableSpan {
    const { parentSpanId, problem } = span;
    const startTime = millisToHrTime(span.startMs);
    const endTime = millisToHrTime(Math.max(span.startMs, span.endMs));
    return {
      name: span.name,
      kind: kinds[span.kind],
      spanContext: () => context,
      ...(parentSpanId !== undefined && { parentSpanContext: contextOf(span, parentSpanId) }),
      startTime,
      endTime,
      duration: hrTimeDuration(startTime, endTime),
      ended: true,
      status:
        problem === undefined
          ? { code: SpanStatusCode.UNSET }
          : { code: SpanStatusCode.ERROR, message: problem },
      attributes: attributesOf(span),
      links: [],
      events: [],
      resource: this.#resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }
}

const contextOf = ({ traceId }: Pick<Span, 'traceId'>, spanId: string): SpanContext => ({
  traceId,
  spanId,
  traceFlags: TraceFlags.SAMPLED,
});

function attributesOf({ attributes }: Pick<Span, 'attributes'>) {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    ),
  );
}

/** Creates the sampler with the given OpenTelemetry name. */
function samplerOf({ tracesSampler, tracesSamplerArg }: TelemetryConfig): Sampler {
  const root = rootSamplerOf(tracesSampler.replace('parentbased_', ''), Number(tracesSamplerArg));
  return tracesSampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSamplerOf(name: string, ratio: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}

/** Logs how many spans a failed export has lost, and why. */
function reporting(exporter: SpanExporter, logger: Pick<Logger, 'warn'>): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ code, error }) => {
        if (code === ExportResultCode.FAILED) {
          const reason = error?.message ?? 'export failed';
          logger.warn({ count: spans.length, reason }, 'traces were dropped');
        }
        done({ code: ExportResultCode.SUCCESS });
      }),
    shutdown: () => exporter.shutdown(),
  };
}
