/** The statistics of a time range, as totals and as series of buckets. */
import { bucketLengths, type BucketLength } from '#projections/figures/buckets.ts';
import { quantile, type Histogram } from '#projections/figures/histogram.ts';
import type { Figures } from '#projections/figures/tally.ts';
import Type from 'typebox';
import { problem, type Problem } from '../http/problem.ts';
import type { MetricName } from './schema.ts';

const dayMs = 24 * 60 * 60 * 1000;
export const maxBuckets = 1000;
/** Maximum number of points if the request specifies no bucket length. */
const defaultBuckets = 150;

/** The query parameters of a time range in buckets. */
export const rangeQuery = {
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Default: 24 hours before `to`.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now.' })),
  bucket: Type.Optional(
    Type.Integer({
      enum: [...bucketLengths],
      description: 'Bucket length in seconds. Default: chosen from the time range.',
    }),
  ),
};

interface Range {
  readonly from: Date;
  readonly to: Date;
  /** Bucket length in seconds. */
  readonly length: BucketLength;
}

/** The time range of a query, or the problem with it. */
export function rangeOf(
  query: { readonly from?: string; readonly to?: string; readonly bucket?: number },
  now: Date,
): Range | Problem {
  const to = query.to === undefined ? now : new Date(query.to);
  const from = query.from === undefined ? new Date(to.getTime() - dayMs) : new Date(query.from);
  const seconds = (to.getTime() - from.getTime()) / 1000;
  if (seconds <= 0) return problem('invalid_parameter', '"from" must be before "to".');
  const length = bucketLengths.find((one) => one === query.bucket) ?? defaultBucketLength(seconds);
  if (seconds / length <= maxBuckets) return { from, to, length };
  return problem(
    'invalid_parameter',
    `The request needs more than ${maxBuckets} buckets. Use a shorter range or longer buckets.`,
  );
}

/** The series of a metric, with one point for each bucket. */
export function seriesOf(metric: MetricName, buckets: readonly (readonly [Date, Figures])[]) {
  return curvesOf(metric).map(({ name, value }) => ({
    name,
    points: buckets.map(([at, figures]) => [at, value(figures)]),
  }));
}

function defaultBucketLength(seconds: number): BucketLength {
  return bucketLengths.find((length) => seconds / length <= defaultBuckets) ?? 86_400;
}

interface Curve {
  readonly name: string;
  readonly value: (figures: Figures) => number | null;
}

function curvesOf(metric: MetricName): readonly Curve[] {
  switch (metric) {
    case 'runs':
      return (['success', 'failed', 'stopped'] as const).map((name) => ({
        name,
        value: (figures) => figures[name],
      }));
    case 'errors':
      return [{ name: 'failed', value: ({ failed }) => failed }];
    case 'duration':
      return quantiles(({ durations }) => durations);
    case 'queue':
      return quantiles(({ waits }) => waits);
    case 'cpu':
      return [{ name: 'cpu_seconds', value: (figures) => figures.cpu_ms / 1000 }];
    case 'memory':
      return [{ name: 'max_bytes', value: (figures) => figures.max_memory_bytes || null }];
  }
}

function quantiles(histogramOf: (figures: Figures) => Histogram): readonly Curve[] {
  return [
    { name: 'p50', value: (figures) => rounded(histogramOf(figures), 0.5) },
    { name: 'p95', value: (figures) => rounded(histogramOf(figures), 0.95) },
  ];
}

/** A quantile in whole milliseconds; `null` if the histogram is empty. */
export function rounded(histogram: Histogram, part: number): number | null {
  const value = quantile(histogram, part);
  return value === null ? null : Math.round(value);
}
