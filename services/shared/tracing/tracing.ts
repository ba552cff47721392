/** Traces from a request to the end of its run, for an OTLP collector (docs/observability.md). No IDs are stored. The
 *  trace ID is the correlation ID, which every event contains. The span IDs of requests and runs are derived from the
 *  IDs of their commands and runs. */
import type { Registry } from 'prom-client';
import type { Logger } from '../logger.ts';
import type { Settings } from '../config.ts';
import type { telemetryNames } from '../telemetry-settings.ts';

export type AttributeValue = string | number | boolean;

/** A span of OpenTelemetry that has ended. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  /** Whether the parent is a span of the client. The client then decides about sampling. */
  readonly hasRemoteParent?: boolean;
  readonly name: string;
  readonly kind: 'internal' | 'server';
  /** The start in milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  /** The error, if any. */
  readonly problem?: string | undefined;
}

export interface Tracing {
  /** Buffers a span until its export. Never waits, never throws; a full buffer drops the span. */
  record(span: Span): void;
}

/** Exports to a collector. */
export interface Telemetry {
  /** Undefined if no endpoint for traces is configured. */
  readonly tracing: Tracing | undefined;
  /** Exports the metrics of a registry periodically. Called once. */
  exportMetrics(registry: Registry): void;
  /** Exports the remaining data, within seconds. */
  close(): Promise<void>;
}

export type TelemetryConfig = Pick<Settings, (typeof telemetryNames)[number]>;

/** @param service such as `backend`
 *  @returns undefined without an endpoint; then no package of the SDK is loaded */
export async function openTelemetry(
  service: string,
  config: TelemetryConfig,
  logger: Pick<Logger, 'warn'>,
): Promise<Telemetry | undefined> {
  const { otlpEndpoint, otlpTracesEndpoint, otlpMetricsEndpoint, otelDisabled } = config;
  const endpoint = otlpEndpoint ?? otlpTracesEndpoint ?? otlpMetricsEndpoint;
  if (endpoint === undefined || otelDisabled) return undefined;
  const { startTelemetry } = await import('./otlp.ts');
  return startTelemetry(service, config, logger);
}

/** Parses `name=value,name=value`, the format of OpenTelemetry's variables. Values are URL-encoded. */
export function pairsOf(text = ''): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((pair) => pair.split('='));
  return Object.fromEntries(
    pairs.flatMap(([name = '', ...value]) =>
      name.trim() === '' ? [] : [[name.trim(), decoded(value.join('=').trim())]],
    ),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The trace ID of a correlation ID; undefined if it is not a valid ID. */
export function traceIdOf(correlationId: string): string | undefined {
  const id = correlationId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : undefined;
}

/** The span ID for a UUID: the random half of its 128 bits. */
export function spanIdOf(uuid: string): string {
  return uuid.replaceAll('-', '').slice(16);
}
