/** Expires approval requests that were not decided in time. */
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

/** Runs one round. A request that has just been decided stays unchanged.
 *  @returns whether there may be more expired requests */
export async function expireApprovals({ reads, commands, ids, clock }: ApprovalDeps) {
  const now = clock.now();
  const at = now.toISOString();
  const expired = await expiredApprovals(reads, now, batchSize);
  await oneByOne(expired, async (request) => {
    // A change needs a new command ID, because a revised change can expire again.
    const commandId = request.kind === 'run' ? ids.derived(request.id, expiry) : ids.next();
    await commands.execute(
      request.kind === 'run'
        ? { type: 'ExpireApproval', runId: request.id, at }
        : { type: 'ExpireChange', scriptId: request.script_id, changeId: request.id, at },
      systemContext(
        'scheduler',
        commandId,
        request.kind === 'run' ? request.correlation_id : commandId,
      ),
    );
  });
  return expired.length === batchSize;
}

const expiry = 'approval expired';
