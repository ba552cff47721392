import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { RunPlan } from '#domain/run/commands.ts';
import type { RunStatus, TriggerType } from '#domain/run/run.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { RunsTable } from './table.ts';

export interface RunListFilter {
  /** Groups to look in; `null` for all. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId?: ScriptId;
  readonly status?: RunStatus;
  readonly triggerType?: TriggerType;
  /** Queued at this time or later, and before `to`. */
  readonly from?: Date;
  readonly to?: Date;
  /** Part of the script's name, any case. */
  readonly text?: string;
}

/** One run; `undefined` where there is none. */
export async function findRun(db: ReadModels, runId: RunId): Promise<RunsTable | undefined> {
  return await db.selectFrom('runs').selectAll().where('run_id', '=', runId).executeTakeFirst();
}

/** Several runs, in the order of their ids. */
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

/** Newest first, from behind `after`; at most `limit` rows. */
export async function listRuns(
  db: ReadModels,
  filter: RunListFilter,
  after: RunId | undefined,
  limit: number,
): Promise<readonly RunsTable[]> {
  let query = db.selectFrom('runs').selectAll().orderBy('run_id', 'desc').limit(limit);
  if (after !== undefined) query = query.where('run_id', '<', after);
  if (filter.groupIds !== null) {
    query = query.where(sql<boolean>`group_id = ANY(${filter.groupIds}::uuid[])`);
  }
  if (filter.scriptId !== undefined) query = query.where('script_id', '=', filter.scriptId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.triggerType !== undefined) {
    query = query.where('trigger_type', '=', filter.triggerType);
  }
  if (filter.from !== undefined) query = query.where('queued_at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('queued_at', '<', filter.to);
  if (filter.text !== undefined) {
    query = query.where(sql<boolean>`strpos(lower(script_name), lower(${filter.text})) > 0`);
  }
  return await query.execute();
}

/** Runs of a script that are queued or running, oldest first. */
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

/** What a run executed, for another run to execute the same. */
export function planOf(run: RunsTable): RunPlan {
  const { environment, python, start_mode: startMode, resolution } = run;
  return {
    scriptVersion: run.script_version,
    entrypoint: run.entrypoint,
    limits: run.limits,
    ...(Object.keys(environment).length > 0 && { environment }),
    ...(python !== null && { python }),
    ...(startMode === 'cold' && { startMode }),
    ...(resolution !== null && { resolution }),
  };
}
