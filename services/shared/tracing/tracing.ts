/** Traces each request until its run finishes, for an OTLP collector (docs/observability.md). Tracing needs no stored
 *  IDs. The trace ID is the correlation ID, which every event contains. Span IDs are derived from the IDs of commands
 *  and runs. */
import type { Registry } from 'prom-client';
import type { Logger } from '../logger.ts';
import type { Settings } from '../config.ts';
import type { telemetryNames } from '../telemetry-settings.ts';

export type AttributeValue = string | number | boolean;

/** A finished OpenTelemetry span. */
export interface Span {
  /** The trace ID, 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span ID, 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  /** Whether the parent span belongs to the client, which then decides whether the trace is sampled. */
  readonly hasRemoteParent?: boolean;
  readonly name: string;
  readonly kind: 'internal' | 'server';
  /** The start time in milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  /** The error message, if the span failed. */
  readonly problem?: string | undefined;
}

export interface Tracing {
  /** Buffers a span until its export. It never waits and never throws. If the buffer is full, the span is dropped. */
  record(span: Span): void;
}

/** Exports traces and metrics to a collector. */
export interface Telemetry {
  /** Undefined if no trace endpoint is configured. */
  readonly tracing: Tracing | undefined;
  /** Exports a registry's metrics periodically. Call this function only once. */
  exportMetrics(registry: Registry): void;
  /** Exports the remaining data and stops, within seconds. */
  close(): Promise<void>;
}

export type TelemetryConfig = Pick<Settings, (typeof telemetryNames)[number]>;

/** @param service the service name, such as `backend`
 *  @returns undefined if no endpoint is configured, in which case the SDK is not loaded */
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

/** Parses `name=value,name=value`, the list format of OpenTelemetry variables. Values are URL-encoded. */
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

/** Returns the trace ID for a correlation ID, or undefined if the correlation ID is invalid. */
export function traceIdOf(correlationId: string): string | undefined {
  const id = correlationId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : undefined;
}

/** Derives a span ID from a UUID: the last 64 of its 128 bits, which are random. */
export function spanIdOf(uuid: string): string {
  return uuid.replaceAll('-', '').slice(16);
}
