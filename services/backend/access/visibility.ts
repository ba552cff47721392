/** Determines which resources the caller can see. Resources of other groups appear not to exist. */
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseGroupId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import { canSeeGroup } from '#domain/kernel/rights.ts';
import {
  findApproval,
  type ApprovalId,
  type ApprovalView,
} from '#projections/approvals/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { findScript, findScriptGroup, type ScriptView } from '#projections/scripts/queries.ts';

/** The groups whose resources a list includes; `null` for all. */
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

/** Whether the caller can see the script. Does not read the script. */
export async function canSeeScript(
  principal: Principal,
  scriptId: ScriptId,
  db: ReadModels,
): Promise<boolean> {
  const script = await findScriptGroup(db, scriptId);
  return script !== undefined && isIn(principal, script.group_id);
}

/** Whether the caller can see the script, even if it is deleted. */
export async function canSeeScriptOrDeleted(
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

/** Whether the caller can see resources of a group.
 *  @param groupId `null` for resources without a group, which only callers who see all groups can see */
export function isIn(principal: Principal, groupId: string | null): boolean {
  if (groupId === null) return visibleGroups(principal) === null;
  return canSeeGroup(principal, mustParse(parseGroupId, groupId));
}

/** Finds an approval, if the caller can see its script. */
export async function visibleApproval(
  principal: Principal,
  id: ApprovalId,
  readModels: ReadModels,
): Promise<ApprovalView | undefined> {
  const row = await findApproval(readModels, id);
  return row !== undefined && isIn(principal, row.group_id) ? row : undefined;
}
