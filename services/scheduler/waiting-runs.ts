/** Releases waiting runs in turn, and ends runs that have waited too long. */
import type { Command } from '#domain/aggregates.ts';
import { systemContext, type Commands, type Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { QueuedRun, RunQueue } from '#domain/ports/run-queue.ts';
import { platformError } from '#domain/run/error/error.ts';
import { noTotals } from '#domain/run/run.ts';
import type { ReadModels } from '#projections/projection.ts';
import { releasableRuns, releasedAtOnce } from '#projections/run-queue/waiting.ts';
import { keptError } from '#services/shared/run-errors.ts';
import { oneByOne } from './one-by-one.ts';

const expiredAtOnce = 200;

export interface WaitingRunsDeps {
  readonly reads: ReadModels;
  readonly queue: RunQueue;
  readonly commands: Commands;
  readonly ids: Ids;
}

/** Runs one round, in the order in which the runs must start. The data read here may be outdated. The decision on the
 *  command counts active runs again under the locks of the script and the pools. Two schedulers therefore never assign
 *  the same slot.
 *  @returns whether there may be more runs to release */
export async function releaseWaitingRuns(deps: Omit<WaitingRunsDeps, 'queue'>): Promise<boolean> {
  const waiting = await releasableRuns(deps.reads);
  await oneByOne(waiting, async (run) => {
    const { run_id: runId, script_id: scriptId, pools } = run;
    const queued = { runId, correlationId: run.correlation_id };
    await execute(deps, queued, { type: 'ReleaseRun', runId, scriptId, pools });
  });
  return waiting.length === releasedAtOnce;
}

/** Runs one round. @returns whether there may be more expired runs */
export async function endExpiredRuns(deps: WaitingRunsDeps): Promise<boolean> {
  const expired = await deps.queue.expired(expiredAtOnce);
  await oneByOne(expired, async (run) => {
    const { runId, scriptId } = run;
    const failure = 'expired';
    const { fact: error, content } = keptError(platformError(failure), scriptId);
    const end = { type: 'AbandonRun', runId, failure, totals: noTotals, error } as const;
    await execute(deps, run, end, content);
  });
  return expired.length === expiredAtOnce;
}

function execute(
  { commands, ids }: Pick<WaitingRunsDeps, 'commands' | 'ids'>,
  { runId, correlationId }: QueuedRun,
  command: Command,
  content?: Uint8Array,
): Promise<Outcome> {
  return commands.execute(
    command,
    systemContext('scheduler', ids.derived(runId, command.type), correlationId),
    content,
  );
}
