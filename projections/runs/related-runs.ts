/** Finds runs that are related by retries, chains or requests from scripts. */
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

const maxDepth = 50;

export interface RelatedRun {
  readonly run_id: string;
  /** The run that triggered this run. `null` for the first run. */
  readonly cause_run_id: string | null;
  readonly relation: 'retry' | 'chain' | 'script' | null;
  readonly script_id: string;
  readonly script_name: string;
  readonly group_id: string;
  readonly status: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
  readonly attempt: number;
  readonly queued_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** Returns an SQL expression for the relation of a run to the run that triggered it. The value is null if no run
 *  triggered it. A rerun has no relation to the original run. */
const relationOf = (run: string) => `CASE WHEN ${run}.trigger ->> 'type' = 'retry' THEN 'retry'
  WHEN ${run}.trigger ->> 'cause' IN ('chain', 'script') THEN ${run}.trigger ->> 'cause' END`;

const related = statement<RelatedRun>(`
  WITH RECURSIVE causes (run_id, trigger, depth) AS (
    SELECT run_id, trigger, 0 FROM runs WHERE run_id = $1
    UNION ALL
    SELECT r.run_id, r.trigger, depth + 1 FROM causes c JOIN runs r
      ON r.run_id = (c.trigger ->> 'runId')::uuid AND ${relationOf('c')} IS NOT NULL
    WHERE depth < ${maxDepth}
  ), family (run_id, depth) AS (
    (SELECT run_id, 0 FROM causes ORDER BY depth DESC LIMIT 1)
    UNION ALL
    SELECT r.run_id, f.depth + 1 FROM family f JOIN runs r
      ON r.trigger ->> 'runId' = f.run_id::text AND ${relationOf('r')} IS NOT NULL
    WHERE f.depth < ${2 * maxDepth}
  )
  SELECT r.run_id, CASE WHEN ${relationOf('r')} IS NOT NULL THEN r.trigger ->> 'runId' END AS cause_run_id,
    ${relationOf('r')} AS relation, r.script_id, r.script_name, r.group_id, r.status, r.attempt,
    r.queued_at, r.started_at, r.finished_at
  FROM (SELECT run_id FROM family LIMIT $2) found JOIN runs r USING (run_id)
  ORDER BY r.run_id`);

/** Returns a run and all related runs, oldest first. @param limit maximum number of runs */
export async function relatedRuns(
  db: ReadModels,
  runId: string,
  limit: number,
): Promise<readonly RelatedRun[]> {
  return await related(db, runId, limit);
}

/** Returns the runs that determined when the last run ended. These are the last run and its upstream runs. An active
 *  run counts as the last run, because it has not ended yet. */
export function criticalPath(runs: readonly RelatedRun[]): ReadonlySet<string> {
  const endOf = ({ finished_at: end }: RelatedRun) => end?.getTime() ?? Infinity;
  const [first] = runs;
  const path = new Set<string>();
  if (first === undefined) return path;
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  let next: RelatedRun | undefined = runs.reduce(
    (last, run) => (endOf(run) >= endOf(last) ? run : last),
    first,
  );
  while (next !== undefined && !path.has(next.run_id)) {
    path.add(next.run_id);
    next = byId.get(next.cause_run_id ?? '');
  }
  return path;
}
