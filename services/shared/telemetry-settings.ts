/** The OpenTelemetry variables that the processes read, under their standard names. Without an endpoint, nothing is
 *  exported, and the OpenTelemetry SDK is not loaded. */
import {
  flag,
  httpAddress,
  integer,
  namedValues,
  oneOf,
  optional,
  secret,
  text,
} from './parsers.ts';
import type { Setting } from './setting.ts';

const protocols = ['http/protobuf', 'grpc'] as const;
const compressions = ['none', 'gzip'] as const;
const milliseconds = { min: 1, max: 600_000 };
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const ratio = { expected: 'a number from 0 to 1', pattern: /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/ };
const name = { expected: 'a name, up to 255 characters', pattern: /^[^\s](.{0,253}[^\s])?$/ };

export const telemetrySettings = {
  otelDisabled: flag('OTEL_SDK_DISABLED', false),
  otelServiceName: optional(text('OTEL_SERVICE_NAME', name)),
  otelResource: optional(text('OTEL_RESOURCE_ATTRIBUTES', namedValues)),
  tracesExporter: oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp'),
  metricsExporter: oneOf('OTEL_METRICS_EXPORTER', ['otlp', 'none'], 'otlp'),

  otlpEndpoint: optional(text('OTEL_EXPORTER_OTLP_ENDPOINT', httpAddress)),
  otlpProtocol: oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', protocols, 'http/protobuf'),
  otlpHeaders: optional(secret(text('OTEL_EXPORTER_OTLP_HEADERS', namedValues))),
  otlpCompression: oneOf('OTEL_EXPORTER_OTLP_COMPRESSION', compressions, 'none'),
  otlpTimeoutMs: integer('OTEL_EXPORTER_OTLP_TIMEOUT', milliseconds, 10_000),

  // Each of these settings overrides the general setting above for one signal
  otlpTracesEndpoint: optional(text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', httpAddress)),
  otlpTracesProtocol: optional(oneOf('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', protocols, 'grpc')),
  otlpTracesHeaders: optional(secret(text('OTEL_EXPORTER_OTLP_TRACES_HEADERS', namedValues))),
  otlpTracesCompression: optional(
    oneOf('OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', compressions, 'none'),
  ),
  otlpTracesTimeoutMs: optional(integer('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', milliseconds)),
  otlpMetricsEndpoint: optional(text('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', httpAddress)),
  otlpMetricsProtocol: optional(oneOf('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', protocols, 'grpc')),
  otlpMetricsHeaders: optional(secret(text('OTEL_EXPORTER_OTLP_METRICS_HEADERS', namedValues))),
  otlpMetricsCompression: optional(
    oneOf('OTEL_EXPORTER_OTLP_METRICS_COMPRESSION', compressions, 'none'),
  ),
  otlpMetricsTimeoutMs: optional(integer('OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', milliseconds)),

  tracesSampler: oneOf('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on'),
  tracesSamplerArg: text('OTEL_TRACES_SAMPLER_ARG', ratio, '1'),
  spanDelayMs: integer('OTEL_BSP_SCHEDULE_DELAY', milliseconds, 5_000),
  spanTimeoutMs: integer('OTEL_BSP_EXPORT_TIMEOUT', milliseconds, 30_000),
  spanQueue: integer('OTEL_BSP_MAX_QUEUE_SIZE', { min: 1, max: 65_536 }, 2_048),
  spanBatch: integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { min: 1, max: 65_536 }, 512),
  metricIntervalMs: integer('OTEL_METRIC_EXPORT_INTERVAL', { min: 100, max: 3_600_000 }, 60_000),
  metricTimeoutMs: integer('OTEL_METRIC_EXPORT_TIMEOUT', milliseconds, 30_000),
} as const satisfies Record<string, Setting<unknown>>;

/** The settings that each process reads. */
export const telemetryNames = Object.keys(telemetrySettings) as (keyof typeof telemetrySettings)[];
