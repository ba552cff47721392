/** Asks runs to stop. */
import type { Principal } from '#domain/kernel/actor.ts';
import {
  known,
  parseCommandId,
  parseRunId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { activeRuns } from '#projections/runs/queries.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { accepted, type Accepted } from './outcome.ts';
import { visibleRun, seesScript } from './visible.ts';

export interface StopCall {
  readonly principal: Principal;
  readonly context: CommandContext;
}

export interface Stopped {
  readonly runIds: readonly RunId[];
  readonly last: Accepted;
}

const noneActive = problem('run_not_active', 'The script has no run that is queued or running.');

/** Stops one run that the caller sees. */
export async function stopOne(
  runId: RunId,
  { principal, context }: StopCall,
  { commands, readModels }: Services,
): Promise<Stopped | Problem> {
  const run = await visibleRun(principal, runId, readModels);
  if (run === undefined) return notFound;
  const last = accepted(await commands.execute({ type: 'StopRun', runId }, context));
  return isProblem(last) ? last : { runIds: [runId], last };
}

export interface StopScriptCall extends StopCall {
  readonly parameters: { readonly id: ScriptId };
  readonly body: { readonly run_id?: string };
}

/** Stops every active run of a script, or the one that the body names. */
export async function stopScript(
  call: StopScriptCall,
  services: Services,
): Promise<Stopped | Problem> {
  const { id } = call.parameters;
  if (!(await seesScript(call.principal, id, services.readModels))) return notFound;
  if (call.body.run_id !== undefined) return await stopNamed(call.body.run_id, call, services);
  const runs = await activeRuns(services.readModels, id);
  const runIds: RunId[] = [];
  let last: Accepted | undefined;
  for (const { run_id } of runs) {
    const runId = known(parseRunId, run_id);
    const commandId = known(parseCommandId, services.ids.derived(call.context.commandId, run_id));
    const context = { ...call.context, commandId };
    const outcome = accepted(await services.commands.execute({ type: 'StopRun', runId }, context));
    // One that ended meanwhile needs no stopping.
    if (isProblem(outcome)) continue;
    runIds.push(runId);
    last = outcome;
  }
  return last === undefined ? noneActive : { runIds, last };
}

async function stopNamed(
  text: string,
  call: StopScriptCall,
  services: Services,
): Promise<Stopped | Problem> {
  const runId = known(parseRunId, text);
  const run = await visibleRun(call.principal, runId, services.readModels);
  if (run?.script_id !== call.parameters.id) return notFound;
  return await stopOne(runId, call, services);
}
