import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { readConfig, type Environment } from '#services/shared/config.ts';
import { telemetryNames } from '#services/shared/telemetry-settings.ts';
import { Collector } from './testing/collector.ts';
import { openTelemetry, spanIdOf, traceIdOf, type Span } from './tracing.ts';

const span: Span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: 'a2fb4a1d1a96d312',
  name: 'RUN Report',
  kind: 'server',
  startMs: 1_795_342_679_123.5,
  endMs: 1_795_342_680_000,
  attributes: { 'cicd.pipeline.name': 'Report', code: 7, share: 0.5, ok: false, none: undefined },
  problem: 'exit_code',
};

let collector: Collector;
let warnings: object[];
beforeEach(async () => {
  collector = await Collector.start();
  warnings = [];
});
afterEach(() => collector.stop());

const telemetryOf = (environment: Environment) =>
  openTelemetry('backend', readConfig(telemetryNames, environment), {
    warn: (fields: object) => void warnings.push(fields),
  });

/** Exports these spans and shuts down. */
async function exported(environment: Environment, spans: readonly Span[] = [span]) {
  const telemetry = await telemetryOf(environment);
  for (const one of spans) telemetry?.tracing?.record(one);
  await telemetry?.close();
}

const overHttp = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
const overGrpc = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.grpcUrl,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
});

describe.each([
  ['HTTP', overHttp],
  ['gRPC', overGrpc],
])('OTLP over %s', (_, endpoint) => {
  test('exports a span with its own IDs', async () => {
    await exported(endpoint());
    expect(collector.spans).toEqual([
      {
        service: 'orchestrator-backend',
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: 'RUN Report',
        kind: 2,
        startTimeUnixNano: '1795342679123500000',
        endTimeUnixNano: '1795342680000000000',
        attributes: [
          { key: 'cicd.pipeline.name', value: { stringValue: 'Report' } },
          { key: 'code', value: { intValue: '7' } },
          { key: 'share', value: { doubleValue: 0.5 } },
          { key: 'ok', value: { boolValue: false } },
        ],
        status: { code: 2, message: 'exit_code' },
      },
    ]);
  });

  test('exports the metrics of a registry at shutdown', async () => {
    const registry = new Registry();
    const registers = [registry];
    new Counter({ name: 'runs_total', help: 'Runs', labelNames: ['outcome'], registers }).inc(
      { outcome: 'success' },
      3,
    );
    new Gauge({ name: 'slots', help: 'Slots', registers }).set(4);
    const seconds = new Histogram({ name: 'seconds', help: 'Time', buckets: [1, 5], registers });
    for (const value of [0.5, 2, 3, 9]) seconds.observe(value);
    const telemetry = await telemetryOf(endpoint());
    telemetry?.exportMetrics(registry);
    await telemetry?.close();
    const [counter, gauge, histogram] = collector.metrics;
    expect(counter).toMatchObject({
      name: 'runs_total',
      sum: {
        isMonotonic: true,
        dataPoints: [
          { attributes: [{ key: 'outcome', value: { stringValue: 'success' } }], asDouble: 3 },
        ],
      },
    });
    expect(gauge).toMatchObject({ name: 'slots', gauge: { dataPoints: [{ asDouble: 4 }] } });
    expect(histogram).toMatchObject({
      name: 'seconds',
      histogram: {
        dataPoints: [
          { count: '4', sum: 14.5, bucketCounts: ['1', '2', '1'], explicitBounds: [1, 5] },
        ],
      },
    });
  });

  test('sends compressed data with both the general headers and the signal’s own headers', async () => {
    await exported({
      ...endpoint(),
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,x-other=general',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-other=c=d',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    });
    expect(collector.spans).toHaveLength(1);
    expect(collector.requests[0]?.headers).toMatchObject({ 'x-key': 'a b', 'x-other': 'c=d' });
  });
});

test('a signal’s own endpoint is used with its path unchanged', async () => {
  await exported({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/spans` });
  expect(collector.requests.map(({ path }) => path)).toEqual(['/spans']);
});

test('exported traces name the service, its instance and the environment', async () => {
  await exported({
    ...overHttp(),
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=ignored',
    OTEL_SERVICE_NAME: 'jobs',
  });
  const attributes = collector.resources[0]?.map(({ key, value }) => [key, value.stringValue]);
  expect(Object.fromEntries(attributes ?? [])).toEqual({
    'service.namespace': 'orchestrator',
    'service.name': 'jobs',
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'orchestrator.process': 'backend',
    'deployment.environment.name': 'test',
  });
});

describe('sampling', () => {
  const low = { ...span, traceId: `${'0'.repeat(31)}1` };
  const high = { ...span, traceId: `${'0'.repeat(24)}ffffff00` };
  const ofClient = { ...high, hasRemoteParent: true };
  test.each([
    ['always_on', [low, high, ofClient], 3],
    ['always_off', [low, high, ofClient], 0],
    ['traceidratio', [low, high, ofClient], 1],
    ['parentbased_always_off', [low, high, ofClient], 1],
    ['parentbased_traceidratio', [low, high, ofClient], 2],
  ])('with the sampler %s exports only the sampled spans', async (sampler, spans, count) => {
    await exported(
      { ...overHttp(), OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.5' },
      spans,
    );
    expect(collector.spans).toHaveLength(count);
  });
});

test('an export is retried after a temporary error', async () => {
  collector.statuses.push(503);
  await exported(overHttp());
  expect(collector.spans).toHaveLength(1);
});

test('the number of spans that the collector refuses is logged', async () => {
  collector.statuses.push(400);
  await exported(overHttp());
  expect(collector.spans).toHaveLength(0);
  expect(warnings).toContainEqual({ count: 1, reason: expect.any(String) });
});

test('spans are dropped when the queue is full', async () => {
  const few = { OTEL_BSP_MAX_QUEUE_SIZE: '2', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' };
  await exported({ ...overHttp(), ...few }, [span, span, span, span, span, span]);
  expect(collector.spans.length).toBeLessThan(6);
});

test('a process exits within seconds while the collector is down', async () => {
  const [port] = await freePorts(1);
  await exported({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  expect(collector.spans).toHaveLength(0);
});

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' },
])('no exporter is started with the variables %o', async (environment) => {
  expect(await telemetryOf(environment)).toBeUndefined();
});

test('trace and span IDs are derived from request and run IDs', () => {
  expect(traceIdOf('019AA3F4-01aa-7c11-8d22-5e6f70819203')).toBe(
    '019aa3f401aa7c118d225e6f70819203',
  );
  expect(traceIdOf('any')).toBeUndefined();
  expect(traceIdOf('0'.repeat(32))).toBeUndefined();
  expect(spanIdOf('019aa3f4-01aa-7c11-8d22-5e6f70819203')).toBe('8d225e6f70819203');
});
