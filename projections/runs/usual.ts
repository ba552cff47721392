/** How long the runs of a script usually take. */
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import { newestRuns } from './newest.ts';

/** Of so many of the latest is asked, however many there are. */
const latest = 100;

/** Of those of the latest runs that succeeded, in milliseconds of their process. */
export interface UsualDuration {
  /** How many these are. */
  readonly runs: number;
  /** Half of them took no longer. */
  readonly p50_ms: number;
  /** 95 of 100 took no longer. */
  readonly p95_ms: number;
}

const lately = newestRuns({
  columns: 'status, duration_ms',
  of: 'asked.script_id',
  limit: latest,
});
const read = statement<UsualDuration & { readonly script_id: string }>(`
  SELECT asked.script_id, count(*)::integer AS runs,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS p50_ms,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
  FROM unnest($1::uuid[]) AS asked (script_id) CROSS JOIN LATERAL (${lately}) lately
  WHERE status = 'success' AND duration_ms IS NOT NULL
  GROUP BY asked.script_id`);

/** Of each of the scripts one of whose latest runs succeeded. */
export async function usualDurations(
  db: ReadModels,
  scriptIds: readonly string[],
): Promise<ReadonlyMap<string, UsualDuration>> {
  const rows = await read(db, [...new Set(scriptIds)]);
  return new Map(rows.map(({ script_id: id, ...usual }) => [id, usual]));
}
