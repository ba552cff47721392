/** Reads expectations of scripts, and the runs that decide whether the expectations are met. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import { triggerTypes } from '#domain/run/run.ts';
import type { Expectation } from '#domain/script/expectations.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { MissedSince } from './table.ts';

export interface CheckedScript {
  readonly script_id: string;
  /** Empty if the script is disabled or deleted. */
  readonly expectations: readonly Expectation[];
  readonly expectations_since: Date | null;
  readonly last_success_at: Date | null;
  readonly running: readonly { readonly run_id: string; readonly started_at: string }[];
  readonly missed: readonly MissedSince[];
  /** The version of the stream that records missed expectations. 0 if the stream does not exist. */
  readonly seen: number;
}

/** Selects the time of the last success. Reads one index entry per trigger type, regardless of the number of runs. */
const lastSuccess = `(SELECT max(newest.finished_at)
    FROM unnest('{${triggerTypes.join(',')}}'::text[]) AS started_by (trigger_type) CROSS JOIN LATERAL (
      SELECT finished_at FROM runs r WHERE r.script_id = s.script_id AND r.ended_as = 'success'
        AND r.trigger_type = started_by.trigger_type
      ORDER BY r.run_id DESC LIMIT 1) newest)`;

const toCheck = statement<CheckedScript>(`
  SELECT s.script_id, CASE WHEN s.enabled AND NOT s.deleted THEN s.expectations ELSE '[]' END AS expectations,
    s.expectations_since, ${lastSuccess} AS last_success_at,
    coalesce((SELECT json_agg(json_build_object('run_id', q.run_id, 'started_at', r.started_at) ORDER BY q.run_id)
      FROM run_queue q JOIN runs r USING (run_id)
      WHERE q.script_id = s.script_id AND r.started_at IS NOT NULL), '[]') AS running,
    coalesce(m.missed, '[]') AS missed, coalesce(m.stream_version, 0) AS seen
  FROM scripts s LEFT JOIN missed_expectations m USING (script_id)
  WHERE s.expectations <> '[]' OR m.missed <> '[]'
  ORDER BY s.script_id`);

/** Returns all scripts that have expectations, or missed expectations that may have to be cleared. */
export async function scriptsToCheck(db: ReadModels): Promise<readonly CheckedScript[]> {
  return await toCheck(db);
}

/** Returns the missed expectations of a script, oldest first. */
export async function missedExpectationsOf(
  db: ReadModels,
  scriptId: ScriptId,
): Promise<readonly MissedSince[]> {
  const row = await db
    .selectFrom('missed_expectations')
    .select('missed')
    .where('script_id', '=', scriptId)
    .executeTakeFirst();
  return row?.missed ?? [];
}
