/** Asks for a run. */
import { createHash } from 'node:crypto';
import type { Principal } from '#domain/kernel/actor.ts';
import { known, parseRunId, type ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { RunScript } from '#domain/run/commands.ts';
import type { Trigger } from '#domain/run/run.ts';
import { putPayload } from '#infra/postgres/payloads.ts';
import { queuedRun } from '#projections/runs/apply.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import type { RunnableScript } from '#projections/scripts/queries.ts';
import type { Static } from 'typebox';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { maxParamsBytes, type RunRequest } from '../schemas/run.ts';
import type { Services } from '../services.ts';
import { accepted, refusalProblem, type Accepted } from './outcome.ts';
import { isIn } from './visible.ts';

export interface RunCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly id: ScriptId };
  readonly body: Static<typeof RunRequest>;
}

export interface Queued {
  readonly run: RunsTable;
  readonly outcome: Accepted;
}

/** Parameters are kept once it is sure that they are wanted: a refused run leaves nothing behind. */
export async function queueRun(call: RunCall, services: Services): Promise<Queued | Problem> {
  const { commands, database, ids } = services;
  const script = await services.findRunnable(call.parameters.id);
  if (script === undefined || !isIn(call.principal, script.group_id)) return notFound;
  const content = paramsOf(call.body);
  if (content !== undefined && content.length > maxParamsBytes) return paramsTooLarge;
  const mismatch = await paramsProblem(script, call.body.params, services);
  if (mismatch !== undefined) return mismatch;
  const command: RunScript = {
    type: 'RunScript',
    runId: known(parseRunId, ids.next()),
    scriptId: call.parameters.id,
    trigger: triggerOf(call.principal),
    paramsSha256: content === undefined ? null : createHash('sha256').update(content).digest('hex'),
    timeoutSeconds: call.body.timeout_seconds ?? null,
    whenBusy: call.body.when_busy ?? 'refuse',
  };
  if (content !== undefined) {
    const refusal = await commands.check(command);
    if (refusal !== undefined) return refusalProblem(refusal);
    await putPayload(database, content);
  }
  const outcome = accepted(await commands.execute(command, call.context));
  if (isProblem(outcome)) return outcome;
  return { run: await runOf(outcome, services), outcome };
}

function triggerOf({ token }: Principal): Trigger {
  return token === undefined ? { type: 'manual' } : { type: 'api', tokenId: token.tokenId };
}

/** What is wrong with the parameters of a run that is asked for, by the schema of its script. */
export async function paramsProblem(
  { parameters_schema: schema }: RunnableScript,
  params: unknown,
  { parameterSchemas }: Services,
): Promise<Problem | undefined> {
  if (schema === null) return undefined;
  return await parameterSchemas.valueProblem(schema, params ?? {}, 'params');
}

/** The run that an accepted request made. */
export async function runOf(outcome: Accepted, { readModels }: Services): Promise<RunsTable> {
  const [event] = outcome.events;
  // What was recorded just now says it all; asking again would cost as much as the run itself.
  if (event?.type === 'RunQueued' && !outcome.repeated) return queuedRun(event);
  // A repeated request made its run the first time, under another id.
  const runId = known(parseRunId, outcome.streamId.slice('run-'.length));
  const run = await findRun(readModels, runId);
  if (run === undefined) throw new Error('a queued run is not in the read model');
  return run;
}

function paramsOf({ params }: Static<typeof RunRequest>): Buffer | undefined {
  return params === undefined ? undefined : Buffer.from(JSON.stringify(params));
}

const paramsTooLarge = problem(
  'payload_too_large',
  `The parameters may have ${maxParamsBytes} bytes of JSON at most.`,
);
