/** Repeats earlier runs. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseRunId, parseScriptId, type RunId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { payloadOf } from '#domain/run/run.ts';
import { keepPayload } from '#infra/postgres/event-store/payloads.ts';
import { planOf } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { approvalRequest } from '#services/shared/approval-requests.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import { paramsObjection } from '#services/shared/run-requests.ts';
import type { Static } from 'typebox';
import { visibleRun } from '../access/visibility.ts';
import { accepted } from '../http/outcome.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { runOf, type Queued } from './queue-run.ts';
import type { RerunRequest } from './schema.ts';

export interface RerunCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly run_id: RunId };
  readonly body: Static<typeof RerunRequest>;
}

const paramsRemoved = problem(
  'params_removed',
  "The run's parameters were removed by retention. Start a new run with new parameters.",
);

export async function rerunRun(call: RerunCall, services: Services): Promise<Queued | Problem> {
  const { body, context, parameters, principal } = call;
  const { commands, ids, clock, readModels } = services;
  const repeated = await visibleRun(principal, parameters.run_id, readModels);
  if (repeated === undefined) return notFound;
  const { params_sha256: sha256 } = repeated;
  const payloadSha256 = payloadOf(repeated.trigger);
  for (const hash of [sha256, payloadSha256]) {
    const isKept = typeof hash !== 'string' || (await keepPayload(services.database, hash));
    if (!isKept) return paramsRemoved;
  }
  const mismatch = body.version === 'latest' ? await latestProblem(repeated, services) : undefined;
  if (mismatch !== undefined) return mismatch;
  const outcome = accepted(
    await commands.execute(
      {
        type: 'RunScript',
        runId: mustParse(parseRunId, ids.next()),
        scriptId: mustParse(parseScriptId, repeated.script_id),
        trigger: {
          type: 'rerun',
          runId: parameters.run_id,
          ...(body.version === 'same' && { exact: true }),
          ...(payloadSha256 !== undefined && { payloadSha256 }),
        },
        paramsSha256: repeated.params_sha256,
        timeoutSeconds: null,
        whenBusy: body.when_busy ?? 'refuse',
        approval: approvalRequest(context, clock),
        ...(body.version === 'same' && { plan: planOf(repeated) }),
      },
      context,
    ),
  );
  return isProblem(outcome) ? outcome : { run: await runOf(outcome, services), outcome };
}

/** The problem if a rerun uses the script's current version and the parameters do not match that version's schema. */
async function latestProblem(
  { script_id: scriptId, params_sha256: sha256 }: RunsTable,
  services: Services,
): Promise<Problem | undefined> {
  const script = await services.findRunnable(mustParse(parseScriptId, scriptId));
  if (script === undefined || script.parameters_schema === null) return undefined;
  const params = await readParams(services.database, [sha256]);
  return await paramsObjection(script, params.get(sha256), services);
}
