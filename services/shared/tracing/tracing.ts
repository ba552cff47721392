/** Traces: what happened from a request to the end of its run, for a collector that speaks OTLP
 *  (docs/observability.md). Ids need no storage: a trace is known by the correlation id that every event
 *  carries, and the spans of requests and runs by the ids of their commands and runs. */
import type { Logger } from '../logger.ts';
import type { Settings } from '../config.ts';

export type AttributeValue = string | number | boolean;

/** A span of OpenTelemetry that has ended. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server';
  /** Since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  /** What went wrong, where something did. */
  readonly problem?: string | undefined;
}

export interface Tracing {
  /** Keeps a span until it is sent. Never waits, never throws; what finds no room is dropped. */
  record(span: Span): void;
  /** Sends what there is, within seconds. */
  close(): Promise<void>;
}

/** @param service such as `backend`
 *  @returns undefined where no collector is named; then nothing is loaded */
export async function openTracing(
  service: string,
  config: Pick<Settings, 'otlpEndpoint' | 'otlpHeaders' | 'otelResource'>,
  logger: Pick<Logger, 'warn'>,
): Promise<Tracing | undefined> {
  const { otlpEndpoint, otlpHeaders, otelResource } = config;
  if (otlpEndpoint === undefined) return undefined;
  const { OtlpExporter } = await import('./otlp-exporter.ts');
  return new OtlpExporter({
    endpoint: otlpEndpoint,
    headers: pairsOf(otlpHeaders),
    resource: { ...pairsOf(otelResource), 'service.name': `orchestrator-${service}` },
    onDropped: (count, reason) => logger.warn({ count, reason }, 'traces were dropped'),
  });
}

/** `name=value,name=value` with URL-encoded values, as OpenTelemetry's variables have it. */
function pairsOf(text = ''): Readonly<Record<string, string>> {
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

/** The trace of a correlation id; undefined for one that is no id. */
export function traceIdOf(correlationId: string): string | undefined {
  const id = correlationId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id) ? id : undefined;
}

/** The span that stands for what a UUID names: of its 128 bits the half that is chance. */
export function spanIdOf(uuid: string): string {
  return uuid.replaceAll('-', '').slice(16);
}
