/** Executes many commands in one transaction, in their order, all or none. */
import { bindCommand } from '#domain/aggregates.ts';
import type { CommandRequest, OutcomeOfAll } from '#domain/ports/commands.ts';
import type pg from 'pg';
import { inTransaction } from '../database.ts';
import { Batch, executeBatch, lockStreams, type BatchParts } from './command-batch.ts';

/** The largest number of commands per statement. */
const maxBatch = 256;

type Accepted = Extract<OutcomeOfAll, { kind: 'accepted' }>;

/** Rolls back what was tried, and carries what it found out of the transaction. */
class Undone extends Error {
  readonly outcome: OutcomeOfAll;

  constructor(outcome: OutcomeOfAll) {
    super('undone');
    this.outcome = outcome;
  }
}

/** @param tryOnly everything is undone again */
export async function executeSequence(
  pool: pg.Pool,
  requests: readonly CommandRequest[],
  tryOnly: boolean,
  parts: BatchParts,
): Promise<OutcomeOfAll> {
  try {
    return await inTransaction(pool, async (client) => {
      // All of them before the first event: a stream that is locked later could have been passed by a
      // writer whose transaction is younger.
      await client.query(lockStreams, [streamsOf(requests)]);
      const outcomes: Accepted['outcomes'][number][] = [];
      for (const batch of batchesOf(requests)) {
        for (const outcome of await executeBatch(client, batch, parts)) {
          if (outcome.kind === 'mismatched') throw new Error('a command of several had an answer');
          if (outcome.kind === 'refused') {
            const { refusal } = outcome;
            throw new Undone({ kind: 'refused', index: outcomes.length, refusal });
          }
          outcomes.push(outcome);
        }
      }
      const outcome: Accepted = { kind: 'accepted', outcomes };
      if (tryOnly) throw new Undone(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof Undone) return error.outcome;
    throw error;
  }
}

function streamsOf(requests: readonly CommandRequest[]): readonly string[] {
  return requests.flatMap(({ command }) => {
    const { streamId, guards } = bindCommand(command);
    return [streamId, ...guards];
  });
}

/** The commands in their order, parted where one needs to see what another did: what commands of one
 *  aggregate ask of others, those in the same batch have not changed. */
function* batchesOf(requests: readonly CommandRequest[]): Generator<readonly CommandRequest[]> {
  let batch: CommandRequest[] = [];
  let room = new Batch();
  let streamType: string | undefined;
  for (const request of requests) {
    const binding = bindCommand(request.command);
    const isOther = streamType !== undefined && streamType !== binding.streamType;
    if (isOther || batch.length === maxBatch || !room.take(binding)) {
      yield batch;
      batch = [];
      room = new Batch();
      room.take(binding);
    }
    streamType = binding.streamType;
    batch.push(request);
  }
  if (batch.length > 0) yield batch;
}
