import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { RunPlan } from '#domain/run/commands.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { RunsTable } from './table.ts';

/** Returns a run, or `undefined` if it does not exist. */
export async function findRun(db: ReadModels, runId: RunId): Promise<RunsTable | undefined> {
  return await db.selectFrom('runs').selectAll().where('run_id', '=', runId).executeTakeFirst();
}

/** Returns several runs, ordered by ID. */
export async function findRuns(
  db: ReadModels,
  runIds: readonly string[],
): Promise<readonly RunsTable[]> {
  return await db
    .selectFrom('runs')
    .selectAll()
    .where(sql<boolean>`run_id = ANY(${runIds}::uuid[])`)
    .orderBy('run_id')
    .execute();
}

/** Returns the queued and running runs of a script, oldest first. */
export async function activeRuns(
  db: ReadModels,
  scriptId: ScriptId,
): Promise<readonly RunsTable[]> {
  return await db
    .selectFrom('run_queue')
    .innerJoin('runs', 'runs.run_id', 'run_queue.run_id')
    .selectAll('runs')
    .where('run_queue.script_id', '=', scriptId)
    .orderBy('run_queue.run_id')
    .execute();
}

/** Returns the settings and files with which a run was started, so that another run can repeat it. */
export function planOf(run: RunsTable): RunPlan {
  const { environment, python, start_mode: startMode, listen_ports: listenPorts } = run;
  const { resolution, commit } = run;
  return {
    scriptVersion: run.script_version,
    entrypoint: run.entrypoint,
    limits: run.limits,
    ...(Object.keys(environment).length > 0 && { environment }),
    ...(python !== null && { python }),
    ...(startMode !== 'warm' && { startMode }),
    ...(listenPorts.length > 0 && { listenPorts }),
    ...(resolution !== null && { resolution }),
    ...(commit !== null && { commit }),
  };
}

/** Returns the outcomes of at most `limit` runs of the script that ended before this run, newest first. */
export async function endingsBefore(
  db: ReadModels,
  scriptId: ScriptId,
  runId: RunId,
  limit: number,
): Promise<readonly ('success' | 'failed')[]> {
  const rows = await db
    .selectFrom('runs')
    .select('ended_as')
    .where('script_id', '=', scriptId)
    .where('run_id', '<', runId)
    .where('ended_as', 'in', ['success', 'failed'])
    .orderBy('run_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => (row.ended_as === 'success' ? 'success' : 'failed'));
}
