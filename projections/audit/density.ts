/** Counts audit entries over time for the timeline. */
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { auditConditions, spansOf, type AuditFilter } from './queries.ts';

/** Maximum number of entries that are counted. In a larger range, about this many entries are sampled at even
 *  intervals. */
const countedAtMost = 20_000;

export interface DensityQuery {
  readonly filter: Pick<AuditFilter, 'groupIds' | 'actor'>;
  readonly from: Date;
  /** The exclusive end of the range. */
  readonly to: Date;
  /** The length of a bucket. Buckets begin at whole milliseconds, so that repeated counts are consistent. */
  readonly bucketMs: number;
}

export interface DensityBucket {
  /** Index of the bucket, starting at 0. */
  readonly bucket: number;
  readonly entries: number;
  /** The number of entries with a refused or failed operation. */
  readonly not_accepted: number;
}

export interface Density {
  /** The buckets in order of time. Empty buckets are omitted. */
  readonly buckets: readonly DensityBucket[];
  /** Whether the counts are estimates based on a sample. */
  readonly estimated: boolean;
}

/** Returns the time of the first entry, or `undefined` if the trail is empty. */
export async function beginningOfTrail(db: ReadModels): Promise<Date | undefined> {
  const { rows } = await sql<{ first_time: Date }>`
    SELECT first_time FROM audit_spans ORDER BY span LIMIT 1`.execute(db);
  return rows[0]?.first_time;
}

/** Counts entries by time. The cost does not grow with the length of the trail. */
export async function auditDensity(db: ReadModels, query: DensityQuery): Promise<Density> {
  const { filter, from, to } = query;
  const within = { ...filter, from, to };
  const spans = await spansOf(db, within);
  const isNowhere = typeof spans === 'string' || filter.groupIds?.length === 0;
  if (isNowhere) return { buckets: [], estimated: false };
  const { groupIds } = filter;
  const where = sql.join(
    [
      ...auditConditions(within),
      sql`audit_seq BETWEEN ${sql.lit(spans.lowest)} AND ${sql.lit(spans.highest)}`,
      ...(groupIds === null ? [] : [sql`group_id = ANY(${groupIds}::uuid[])`]),
    ],
    sql` AND `,
  );
  const counted = await bucketsOf(db, query, {
    source: sql`(SELECT time, outcome FROM audit WHERE ${where}
      ORDER BY audit_seq LIMIT ${sql.lit(countedAtMost + 1)}) found`,
    weight: 1,
  });
  const total = counted.reduce((sum, { entries }) => sum + entries, 0);
  if (total <= countedAtMost) return { buckets: counted, estimated: false };
  const step = Math.ceil((spans.highest - spans.lowest + 1) / countedAtMost);
  const sampled = await bucketsOf(db, query, {
    source: sql`(SELECT time, outcome FROM
      generate_series(${sql.lit(spans.lowest)}::bigint, ${sql.lit(spans.highest)}, ${sql.lit(step)}) looked
      JOIN audit ON audit_seq = looked WHERE ${where}) found`,
    weight: step,
  });
  return { buckets: sampled, estimated: step > 1 };
}

interface Counted {
  readonly source: RawBuilder<unknown>;
  /** The number of entries that one sampled entry represents. */
  readonly weight: number;
}

async function bucketsOf(
  db: ReadModels,
  { from, bucketMs }: DensityQuery,
  { source, weight }: Counted,
): Promise<readonly DensityBucket[]> {
  const { rows } = await sql<DensityBucket>`
    SELECT floor(extract(epoch FROM time - ${from}::timestamptz) * 1000 / ${sql.lit(bucketMs)})::int AS bucket,
      (count(*) * ${sql.lit(weight)})::int AS entries,
      (count(*) FILTER (WHERE outcome <> 'accepted') * ${sql.lit(weight)})::int AS not_accepted
    FROM ${source} GROUP BY 1 ORDER BY 1`.execute(db);
  return rows;
}
