/** Exports the metrics of a Prometheus registry over OTLP, with the same names, labels and values as `/metrics`. */
import { performance } from 'node:perf_hooks';
import { ValueType, type HrTime } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { emptyResource, type Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type DataPoint,
  type Histogram,
  type MetricData,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';
import { version } from '../version.ts';
import type { TelemetryConfig } from './tracing.ts';

export interface OtlpMetricsOptions {
  readonly exporter: PushMetricExporter;
  readonly registry: Registry;
  readonly resource: Resource;
  readonly config: Pick<TelemetryConfig, 'metricIntervalMs' | 'metricTimeoutMs'>;
}

/** The start time of all counters, which is the start of the process. */
const startTime = millisToHrTime(performance.timeOrigin);

export class OtlpMetrics {
  readonly #provider: MeterProvider;

  constructor({ exporter, registry, resource, config }: OtlpMetricsOptions) {
    const { metricIntervalMs, metricTimeoutMs } = config;
    const reader = new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: metricIntervalMs,
      exportTimeoutMillis: Math.min(metricIntervalMs, metricTimeoutMs),
      metricProducers: [{ collect: () => collect(registry) }],
    });
    this.#provider = new MeterProvider({ resource, readers: [reader] });
  }

  /** Exports the metrics one last time and shuts down. */
  close(): Promise<void> {
    return this.#provider.shutdown();
  }
}

async function collect(registry: Registry) {
  const endTime = millisToHrTime(Date.now());
  const collected = await registry.getMetricsAsJSON();
  const metrics = collected.flatMap((metric) => metricDataOf(metric, endTime) ?? []);
  const scopeMetrics = [{ scope: { name: 'orchestrator', version }, metrics }];
  // The provider replaces this empty resource with the configured resource.
  return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
}

type Collected = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type Value = Collected['values'][number] & { readonly metricName?: string };

function metricDataOf(metric: Collected, endTime: HrTime): MetricData | undefined {
  const { name, help: description, values } = metric;
  // According to prom-client's types, this is an enum, but the actual values are these strings.
  const type = String(metric.type);
  const common = {
    descriptor: { name, description, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = (): DataPoint<number>[] =>
    values.map(({ labels, value }) => ({ startTime, endTime, attributes: { ...labels }, value }));
  if (type === 'counter') {
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
  }
  if (type === 'gauge') {
    return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
  }
  if (type !== 'histogram') return undefined;
  return {
    ...common,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: histogramPoints(name, values, endTime),
  };
}

/** Prometheus buckets are cumulative, but OTLP buckets are not. */
function histogramPoints(name: string, values: readonly Value[], endTime: HrTime) {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series].map(([labels, ofSeries]): DataPoint<Histogram> => {
    const valueOf = (suffix: string) =>
      ofSeries.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0;
    const buckets = ofSeries.filter(({ metricName }) => metricName === `${name}_bucket`);
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite);
    return {
      startTime,
      endTime,
      attributes: JSON.parse(labels) as Record<string, string>,
      value: { buckets: { boundaries, counts }, sum: valueOf('sum'), count: valueOf('count') },
    };
  });
}
