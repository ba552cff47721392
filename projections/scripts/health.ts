/** Reads the latest runs of scripts that need attention or were active recently. */
import type { GroupId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import { readActivity, type RecentRun } from './activity.ts';
import { failingScripts } from './failing.ts';

export interface ScriptHealth {
  readonly script_id: string;
  readonly script_name: string;
  /** The latest runs, newest first. */
  readonly recent_runs: readonly RecentRun[];
}

/** The number of latest runs from which scripts are selected. */
const latestRuns = 200;

const activeScripts = statement<{ readonly script_id: string; readonly script_name: string }>(`
  SELECT s.script_id, s.name AS script_name FROM (
    SELECT script_id, max(run_id::text) AS latest FROM (
      SELECT script_id, run_id FROM runs WHERE ($1::uuid[] IS NULL OR group_id = ANY($1))
      ORDER BY run_id DESC LIMIT ${latestRuns}
    ) newest GROUP BY script_id
  ) active JOIN scripts s USING (script_id) WHERE NOT s.deleted
  ORDER BY latest DESC LIMIT $2`);

/** Returns at most `limit` scripts. Failing scripts come first, followed by the scripts with the latest runs.
 *  @param groupIds the groups to include. `null` means all groups. */
export async function scriptHealth(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  limit: number,
): Promise<readonly ScriptHealth[]> {
  const [failing, active] = await Promise.all([
    failingScripts(db, groupIds, limit),
    activeScripts(db, groupIds, limit),
  ]);
  const names = new Map(
    [...failing.items, ...active].map((script) => [script.script_id, script.script_name]),
  );
  const ids = [...names.keys()].slice(0, limit);
  const activity = await readActivity(db, ids);
  return ids.map((id) => ({
    script_id: id,
    script_name: names.get(id) ?? '',
    recent_runs: activity.get(id)?.recent_runs ?? [],
  }));
}
