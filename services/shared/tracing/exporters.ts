/** Opens OpenTelemetry exporters for the configured protocol of each signal. Only the packages of that protocol are
 *  loaded. */
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { pairsOf, type TelemetryConfig } from './tracing.ts';

interface Target {
  readonly url: string;
  readonly protocol: TelemetryConfig['otlpProtocol'];
  readonly headers: Record<string, string>;
  readonly compression: CompressionAlgorithm;
  readonly timeoutMillis: number;
}

/** @returns undefined if no endpoint for traces is configured */
export async function openSpanExporter(config: TelemetryConfig): Promise<SpanExporter | undefined> {
  const target = targetOf(config, 'Traces');
  if (target === undefined || config.tracesExporter === 'none') return undefined;
  if (target.protocol === 'grpc') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
    return new OTLPTraceExporter(await grpcOptions(target));
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter(httpOptions(target));
}

/** @returns undefined if no endpoint for metrics is configured */
export async function openMetricExporter(
  config: TelemetryConfig,
): Promise<PushMetricExporter | undefined> {
  const target = targetOf(config, 'Metrics');
  if (target === undefined || config.metricsExporter === 'none') return undefined;
  if (target.protocol === 'grpc') {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc');
    return new OTLPMetricExporter(await grpcOptions(target));
  }
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
  return new OTLPMetricExporter(httpOptions(target));
}

/** Returns where a signal is exported. The signal's own variables override the general variables, except that headers
 *  are merged. */
function targetOf(config: TelemetryConfig, signal: 'Traces' | 'Metrics'): Target | undefined {
  const protocol = config[`otlp${signal}Protocol`] ?? config.otlpProtocol;
  // Over HTTP, the signal's path is appended to the general endpoint. The signal's own endpoint is used unchanged.
  const path = protocol === 'grpc' ? '' : `/v1/${signal.toLowerCase()}`;
  const base = config.otlpEndpoint?.replace(/\/$/, '');
  const url = config[`otlp${signal}Endpoint`] ?? (base === undefined ? base : `${base}${path}`);
  if (url === undefined) return undefined;
  const compression = config[`otlp${signal}Compression`] ?? config.otlpCompression;
  return {
    url,
    protocol,
    headers: { ...pairsOf(config.otlpHeaders), ...pairsOf(config[`otlp${signal}Headers`]) },
    compression: compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    timeoutMillis: config[`otlp${signal}TimeoutMs`] ?? config.otlpTimeoutMs,
  };
}

function httpOptions({ url, headers, compression, timeoutMillis }: Target) {
  return { url, headers, compression, timeoutMillis };
}

async function grpcOptions({ url, headers, compression, timeoutMillis }: Target) {
  const { Metadata } = await import('@grpc/grpc-js');
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { url, metadata, compression, timeoutMillis };
}
