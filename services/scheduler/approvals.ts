/** Ends runs whose request for an approval has expired. */
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { expiredApprovals } from '#projections/approvals/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { oneByOne } from './one-by-one.ts';

const batchSize = 100;

export interface ApprovalDeps {
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Runs one round. A request that was decided meanwhile is unchanged. @returns whether there may be more */
export async function expireApprovals({ reads, commands, ids, clock }: ApprovalDeps) {
  const now = clock.now();
  const expired = await expiredApprovals(reads, now, batchSize);
  await oneByOne(expired, async ({ run_id: runId, correlation_id: correlationId }) => {
    await commands.execute(
      { type: 'ExpireApproval', runId, at: now.toISOString() },
      systemContext('scheduler', ids.derived(runId, 'approval expired'), correlationId),
    );
  });
  return expired.length === batchSize;
}
