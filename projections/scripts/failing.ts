/** Finds scripts whose last run failed. */
import type { GroupId } from '#domain/kernel/ids.ts';
import type { Failure } from '#domain/run/run.ts';
import type { ReadModels } from '../projection.ts';
import { newestRuns } from '../runs/newest.ts';
import { statement } from '../statement.ts';

export interface FailingScript {
  readonly script_id: string;
  readonly script_name: string;
  /** The failed run. */
  readonly run_id: string;
  readonly finished_at: Date;
  readonly failure_reason: Failure | null;
}

const last = newestRuns({
  columns: 'run_id, status, finished_at, failure_reason',
  of: 's.script_id',
  where: 'finished_at IS NOT NULL',
  limit: 1,
});
const read = statement<FailingScript & { readonly total: number }>(`
  SELECT script_id, s.name AS script_name, run_id, finished_at, failure_reason,
    count(*) OVER ()::integer AS total
  FROM scripts s CROSS JOIN LATERAL (${last}) last
  WHERE s.enabled AND NOT s.deleted AND last.status = 'failed'
    AND ($1::uuid[] IS NULL OR s.group_id = ANY($1))
  ORDER BY finished_at DESC, script_id LIMIT $2`);

/** Returns at most `limit` enabled scripts whose last run failed, latest failure first, and their total number.
 *  @param groupIds the groups to include. `null` means all groups. */
export async function failingScripts(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  limit: number,
): Promise<{ readonly total: number; readonly items: readonly FailingScript[] }> {
  const rows = await read(db, groupIds, limit);
  return { total: rows[0]?.total ?? 0, items: rows.map(({ total: _, ...script }) => script) };
}
