/** Releases waiting runs when it is their turn, and ends those that waited too long (contract §3, "Run"). */
import type { Command } from '#domain/aggregates.ts';
import { mustParse, parseCommandId, type RunId } from '#domain/kernel/ids.ts';
import type { Commands, Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { RunQueue } from '#domain/ports/run-queue.ts';
import { noTotals } from '#domain/run/run.ts';
import type { ReadModels } from '#projections/projection.ts';
import { releasableRuns } from '#projections/run-queue/waiting.ts';
import { oneByOne } from './one-by-one.ts';

const batchSize = 200;

export interface WaitingRunsParts {
  readonly reads: ReadModels;
  readonly queue: RunQueue;
  readonly commands: Commands;
  readonly ids: Ids;
}

/** One round, in the order in which the runs are to start. What is read here is only a hint: the
 *  decision counts again, under the lock of the script, so that two schedulers give away no slot
 *  twice. @returns whether there may be more */
export async function releaseWaitingRuns(parts: Omit<WaitingRunsParts, 'queue'>): Promise<boolean> {
  const waiting = await releasableRuns(parts.reads, batchSize);
  await oneByOne(waiting, async ({ run_id: runId, script_id: scriptId }) => {
    await execute(parts, runId, { type: 'ReleaseRun', runId, scriptId });
  });
  return waiting.length === batchSize;
}

/** One round. @returns whether there may be more */
export async function endExpiredRuns(parts: WaitingRunsParts): Promise<boolean> {
  const expired = await parts.queue.expired(batchSize);
  await oneByOne(expired, async (runId) => {
    const end = { type: 'AbandonRun', failure: 'expired', totals: noTotals } as const;
    await execute(parts, runId, { ...end, runId });
  });
  return expired.length === batchSize;
}

function execute(
  { commands, ids }: Pick<WaitingRunsParts, 'commands' | 'ids'>,
  runId: RunId,
  command: Command,
): Promise<Outcome> {
  return commands.execute(command, {
    commandId: mustParse(parseCommandId, ids.derived(runId, command.type)),
    actor: { kind: 'system', name: 'scheduler' },
    ip: null,
    correlationId: runId,
    causationId: null,
  });
}
