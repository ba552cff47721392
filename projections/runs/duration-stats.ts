/** Computes typical durations of a script's runs. */
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import { newestRuns } from './newest.ts';

/** The number of latest runs from which durations are computed. */
const latest = 100;

/** Durations of the latest successful runs, in milliseconds. */
export interface DurationStats {
  /** The number of runs from which the durations were computed. */
  readonly runs: number;
  /** The p50 (median). */
  readonly p50_ms: number;
  /** The p95. */
  readonly p95_ms: number;
}

const lately = newestRuns({
  columns: 'status, duration_ms',
  of: 'asked.script_id',
  limit: latest,
});
const read = statement<DurationStats & { readonly script_id: string }>(`
  SELECT asked.script_id, count(*)::integer AS runs,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS p50_ms,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
  FROM unnest($1::uuid[]) AS asked (script_id) CROSS JOIN LATERAL (${lately}) lately
  WHERE status = 'success' AND duration_ms IS NOT NULL
  GROUP BY asked.script_id`);

/** Returns the durations for each script whose latest runs include a successful run. */
export async function readDurationStats(
  db: ReadModels,
  scriptIds: readonly string[],
): Promise<ReadonlyMap<string, DurationStats>> {
  const rows = await read(db, [...new Set(scriptIds)]);
  return new Map(rows.map(({ script_id: id, ...usual }) => [id, usual]));
}
