/** Responds with scripts. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Edit, ScriptCommand } from '#domain/script/commands.ts';
import { editOf, executeEdit, type Edited } from '../access/edit-script.ts';
import { canSeeScript, canSeeScriptOrDeleted, visibleScript } from '../access/visibility.ts';
import { requestedReply } from '../approvals/view.ts';
import { etag } from '../http/conditional.ts';
import type { ResponseRule } from '../http/operation.ts';
import { accepted, positionHeader, type Accepted } from '../http/outcome.ts';
import { isProblem, notFound, type Problem } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { Script } from './schema.ts';
import { scriptJson } from './view.ts';

export const shown: ResponseRule = {
  description: 'The script.',
  schema: Script,
  headers: ['ETag', 'Orch-Position'],
};

export const created: ResponseRule = {
  description: 'The script was created.',
  schema: Script,
  headers: ['Location', 'ETag', 'Orch-Position'],
};

export interface ScriptCall {
  readonly principal: Principal;
  readonly context: CommandContext;
}

/** Executes a command on a script that is visible to the caller. */
export async function commandScript(
  { principal, context }: ScriptCall,
  { commands, readModels }: Services,
  command: Exclude<ScriptCommand, { type: 'CreateScript' }>,
): Promise<Accepted | Problem> {
  if (!(await canSeeScript(principal, command.scriptId, readModels))) return notFound;
  return accepted(await commands.execute(command, context));
}

/** Edits a script that is visible to the caller and may be deleted. If the script is protected, requests approval
 *  instead. */
export async function editScript(
  call: ScriptCall,
  services: Services,
  scriptId: ScriptId,
  edit: Edit,
  expectedVersion?: number,
): Promise<Answer> {
  const { principal, context } = call;
  const canSee = edit.type === 'RestoreScript' ? canSeeScriptOrDeleted : canSeeScript;
  if (!(await canSee(principal, scriptId, services.readModels))) return notFound;
  const command = editOf(scriptId, [edit], expectedVersion, context, services);
  const edited = await executeEdit(command, context, services);
  return isProblem(edited) ? edited : await showEdited(call, scriptId, services, edited);
}

/** Responds with the edited script, or with the approval request. */
export async function showEdited(
  call: Pick<ScriptCall, 'principal'>,
  scriptId: ScriptId,
  services: Services,
  { outcome, changeId }: Edited,
): Promise<Answer> {
  return changeId === undefined
    ? await showScript(call, scriptId, services, outcome)
    : await requestedReply({ changeId, outcome }, call, services);
}

/** Responds with the script after a command. */
export async function showScript(
  { principal }: Pick<ScriptCall, 'principal'>,
  scriptId: ScriptId,
  { readModels }: Services,
  outcome: Accepted,
  status: 200 | 201 = 200,
): Promise<Answer> {
  const script = await visibleScript(principal, scriptId, readModels);
  // The script may have been deleted, or moved to another group, since the command was executed.
  if (script === undefined) return notFound;
  return json(status, scriptJson(script), {
    ETag: etag(script.version),
    ...(status === 201 && { Location: `/api/v1/scripts/${scriptId}` }),
    ...positionHeader(outcome),
  });
}
