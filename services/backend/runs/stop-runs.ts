/** Stops runs. */
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseCommandId,
  parseRunId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { activeRuns } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { visibleRun, canSeeScript } from '../access/visibility.ts';
import { accepted, type Accepted } from '../http/outcome.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

export interface StopCall {
  readonly principal: Principal;
  readonly context: CommandContext;
}

export interface Stopped {
  readonly runIds: readonly RunId[];
  /** The outcome of the last recorded command. */
  readonly last: Accepted;
}

/** Limits concurrent commands, which are committed together. */
const maxConcurrent = 128;
const noneActive = problem('run_not_active', 'The script has no queued or running run.');

/** Stops a run that is visible to the caller. */
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

/** Stops all active runs of a script, or only the run that the body names. */
export async function stopScript(
  call: StopScriptCall,
  services: Services,
): Promise<Stopped | Problem> {
  const { id } = call.parameters;
  if (!(await canSeeScript(call.principal, id, services.readModels))) return notFound;
  if (call.body.run_id !== undefined) return await stopNamed(call.body.run_id, call, services);
  const runs = await activeRuns(services.readModels, id);
  // Stops waiting runs first. Otherwise, they could start in the slots of the stopped runs.
  const inTurn = [...runs.filter(isQueued), ...runs.filter((run) => !isQueued(run))];
  const runIds: RunId[] = [];
  let last: Accepted | undefined;
  for (let place = 0; place < inTurn.length; place += maxConcurrent) {
    const those = inTurn.slice(place, place + maxConcurrent);
    const stops = await Promise.all(those.map((run) => stopOneOfMany(run, call, services)));
    for (const { runId, outcome } of stops) {
      // Ignores runs that have ended in the meantime.
      if (isProblem(outcome)) continue;
      runIds.push(runId);
      last = laterOf(outcome, last);
    }
  }
  return last === undefined ? noneActive : { runIds, last };
}

function isQueued({ status }: RunsTable): boolean {
  return status === 'queued';
}

async function stopOneOfMany(
  { run_id }: RunsTable,
  { context }: StopCall,
  { commands, ids }: Services,
) {
  const runId = mustParse(parseRunId, run_id);
  const commandId = mustParse(parseCommandId, ids.derived(context.commandId, run_id));
  const outcome = await commands.execute({ type: 'StopRun', runId }, { ...context, commandId });
  return { runId, outcome: accepted(outcome) };
}

function laterOf(one: Accepted, other: Accepted | undefined): Accepted {
  const isLater = one.position.globalPosition > (other?.position.globalPosition ?? 0);
  return isLater || other === undefined ? one : other;
}

async function stopNamed(
  text: string,
  call: StopScriptCall,
  services: Services,
): Promise<Stopped | Problem> {
  const runId = mustParse(parseRunId, text);
  const run = await visibleRun(call.principal, runId, services.readModels);
  if (run?.script_id !== call.parameters.id) return notFound;
  return await stopOne(runId, call, services);
}
