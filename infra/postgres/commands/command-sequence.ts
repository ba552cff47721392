/** Executes many commands in order in one transaction: either all of them or none. */
import { bindCommand } from '#domain/aggregates.ts';
import type { CommandRequest, OutcomeOfAll } from '#domain/ports/commands.ts';
import type pg from 'pg';
import { inTransaction } from '../database.ts';
import { Batch, executeBatch, lockStreams, type BatchDeps } from './command-batch.ts';

/** The maximum number of commands per batch. */
const maxBatch = 256;

type Accepted = Extract<OutcomeOfAll, { kind: 'accepted' }>;

/** Thrown to roll back a dry run. Carries the results out of the transaction. */
class Undone extends Error {
  readonly outcome: OutcomeOfAll;

  constructor(outcome: OutcomeOfAll) {
    super('undone');
    this.outcome = outcome;
  }
}

/** @param tryOnly whether to roll everything back */
export async function executeSequence(
  pool: pg.Pool,
  requests: readonly CommandRequest[],
  tryOnly: boolean,
  deps: BatchDeps,
): Promise<OutcomeOfAll> {
  try {
    return await inTransaction(pool, async (client) => {
      // All streams are locked before the first event is appended. Otherwise, a later transaction could write a stream
      // before it is locked.
      await client.query(lockStreams, [streamsOf(requests)]);
      const outcomes: Accepted['outcomes'][number][] = [];
      for (const batch of batchesOf(requests)) {
        for (const outcome of await executeBatch(client, batch, deps)) {
          if (outcome.kind === 'mismatched')
            throw new Error('a command in a batch has the ID of an earlier command');
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

/** Splits the commands into consecutive batches. A new batch starts where a command can read what an earlier command
 *  changed. Commands of one aggregate type read only other aggregate types, which their batch does not change. */
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
