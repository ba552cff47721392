/** Queues requested runs. */
import type { Principal } from '#domain/kernel/actor.ts';
import { parseRunId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Trigger } from '#domain/run/run.ts';
import { queuedRun } from '#projections/runs/apply.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import type { RunnableScript } from '#projections/scripts/queries.ts';
import { requestRun } from '#services/shared/run-requests.ts';
import type { Static } from 'typebox';
import { isIn } from '../access/visibility.ts';
import { type Accepted, accepted, writtenId } from '../http/outcome.ts';
import { isProblem, notFound, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import type { RunRequest } from './schema.ts';

export interface RunCall {
  readonly header: (name: string) => string | undefined;
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly body: Static<typeof RunRequest>;
  readonly ahead: Promise<RunnableScript | undefined>;
}

export interface Queued {
  readonly run: RunsTable;
  readonly outcome: Accepted;
}

export async function queueRun(call: RunCall, services: Services): Promise<Queued | Problem> {
  const { body, context, principal } = call;
  const script = await call.ahead;
  if (script === undefined || !isIn(principal, script.group_id)) return notFound;
  const asked = await requestRun(
    {
      script,
      params: body.params,
      trigger: triggerOf(call),
      timeoutSeconds: body.timeout_seconds ?? null,
      whenBusy: body.when_busy ?? 'refuse',
      context,
    },
    services,
  );
  if (asked.kind === 'problem') return asked;
  const outcome = accepted(asked);
  return isProblem(outcome) ? outcome : { run: await runOf(outcome, services), outcome };
}

function triggerOf({ header, principal: { token } }: RunCall): Trigger {
  if (header('Orch-Client') === 'mcp') return { type: 'mcp' };
  return token === undefined ? { type: 'manual' } : { type: 'api', tokenId: token.tokenId };
}

/** The run that an accepted command has queued. */
export async function runOf(outcome: Accepted, { readModels }: Services): Promise<RunsTable> {
  const [event] = outcome.events;
  // Takes the run from the event, which contains all fields. A query would cost as much as queueing the run.
  if (event?.type === 'RunQueued' && !outcome.repeated) return queuedRun(event);
  const runId = writtenId(outcome, parseRunId);
  const run = await findRun(readModels, runId);
  if (run === undefined) throw new Error('a queued run is not in the read model');
  return run;
}
