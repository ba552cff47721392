/** What exists for the caller: whatever lies outside their groups does not. */
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseGroupId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import { sees } from '#domain/kernel/rights.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { findScript, findScriptGroup, type ScriptView } from '#projections/scripts/queries.ts';

/** The groups that a list may look in; `null` for all. */
export function visibleGroups(principal: Principal): readonly GroupId[] | null {
  return principal.role === 'administrator' ? null : principal.groupIds;
}

export async function visibleScript(
  principal: Principal,
  scriptId: ScriptId,
  db: ReadModels,
): Promise<ScriptView | undefined> {
  const script = await findScript(db, scriptId);
  return script !== undefined && isIn(principal, script.group_id) ? script : undefined;
}

/** Whether the script is there for the caller: the cheaper question where nothing of it is shown. */
export async function seesScript(
  principal: Principal,
  scriptId: ScriptId,
  db: ReadModels,
): Promise<boolean> {
  const script = await findScriptGroup(db, scriptId);
  return script !== undefined && isIn(principal, script.group_id);
}

/** The same of a script that may have been deleted. */
export async function seesScriptOrDeleted(
  principal: Principal,
  scriptId: ScriptId,
  db: ReadModels,
): Promise<boolean> {
  const script = await findScriptGroup(db, scriptId, { deleted: true });
  return script !== undefined && isIn(principal, script.group_id);
}

export async function visibleRun(
  principal: Principal,
  runId: RunId,
  db: ReadModels,
): Promise<RunsTable | undefined> {
  const run = await findRun(db, runId);
  return run !== undefined && isIn(principal, run.group_id) ? run : undefined;
}

/** Whether what belongs to a group is there for the caller.
 *  @param groupId `null`: of what belongs to none, which is for those who see all */
export function isIn(principal: Principal, groupId: string | null): boolean {
  if (groupId === null) return visibleGroups(principal) === null;
  return sees(principal, mustParse(parseGroupId, groupId));
}
