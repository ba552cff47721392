/** Responses with scripts. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { ScriptCommand } from '#domain/script/commands.ts';
import { canSeeScript, visibleScript } from '../access/visibility.ts';
import { etag } from '../http/conditional.ts';
import type { ResponseRule } from '../http/operation.ts';
import { accepted, positionHeader, type Accepted } from '../http/outcome.ts';
import { notFound, type Problem } from '../http/problem.ts';
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
  description: 'Created.',
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

/** The script after a command. */
export async function showScript(
  { principal }: Pick<ScriptCall, 'principal'>,
  scriptId: ScriptId,
  { readModels }: Services,
  outcome: Accepted,
  status: 200 | 201 = 200,
): Promise<Answer> {
  const script = await visibleScript(principal, scriptId, readModels);
  // In the meantime, the script may have been deleted or moved to another group.
  if (script === undefined) return notFound;
  return json(status, scriptJson(script), {
    ETag: etag(script.version),
    ...(status === 201 && { Location: `/api/v1/scripts/${scriptId}` }),
    ...positionHeader(outcome),
  });
}
