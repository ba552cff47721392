/** Group commit: commands that arrive during a commit are executed together in the next transaction. A single command
 *  is executed immediately. */
import { bindCommand, type Command, type Recorded } from '#domain/aggregates.ts';
import type { Refusal } from '#domain/kernel/decision.ts';
import type {
  CommandContext,
  CommandRequest,
  Commands,
  Outcome,
  OutcomeOfAll,
} from '#domain/ports/commands.ts';
import { VersionConflict } from '#domain/ports/event-store.ts';
import type pg from 'pg';
import { sqlState } from '../connection.ts';
import { commit, inTransaction, inTransactionByKeys } from '../database.ts';
import { Batch, executeBatch, refusalOf, type BatchDeps } from './command-batch.ts';
import { executeSequence } from './command-sequence.ts';
import type { KnownStreams } from './known-streams.ts';

const maxBatch = 64;
/** The maximum number of concurrent batches. A second batch starts only if a full batch is waiting, because one batch
 *  is cheaper than two small ones. */
const lanes = 2;
/** A version conflict is not a failure. The command is retried with the new state. */
const attempts = 5;
const raceStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505']);

export interface CommandPipelineDeps extends BatchDeps {
  readonly pool: pg.Pool;
  /** Called with the recorded events after the commit. */
  readonly announce: (events: readonly Recorded[]) => void;
  /** Cached histories of recently used streams. Commands on these streams need only one round trip. */
  readonly known?: KnownStreams | undefined;
}

interface Waiting extends CommandRequest {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class CommandPipeline implements Commands {
  readonly #deps: CommandPipelineDeps;
  #waiting: Waiting[] = [];
  #busyLanes = 0;

  constructor(deps: CommandPipelineDeps) {
    this.#deps = deps;
  }

  execute(command: Command, context: CommandContext, content?: Uint8Array): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#waiting.push({ command, context, content, resolve, reject });
    if (this.#busyLanes === 0 || (this.#busyLanes < lanes && this.#waiting.length >= maxBatch)) {
      void this.#work();
    }
    return promise;
  }

  async executeAll(
    requests: readonly CommandRequest[],
    { tryOnly = false }: { readonly tryOnly?: boolean } = {},
  ): Promise<OutcomeOfAll> {
    const { pool, announce } = this.#deps;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const outcome = await executeSequence(pool, requests, tryOnly, this.#deps);
        if (outcome.kind === 'refused' || tryOnly) return outcome;
        const events = outcome.outcomes.flatMap((one) => one.events);
        if (events.length > 0) announce(events);
        return outcome;
      } catch (error) {
        if (attempt >= attempts || !isLostRace(error)) throw error;
      }
    }
  }

  async check(command: Command): Promise<Refusal | undefined> {
    return await inTransaction(this.#deps.pool, (client) => refusalOf(client, command, this.#deps));
  }

  async #work(): Promise<void> {
    this.#busyLanes += 1;
    while (this.#waiting.length > 0) await this.#commit(this.#takeBatch());
    this.#busyLanes -= 1;
  }

  /** Removes the commands that can be decided together from the queue. A command waits for the next batch if the
   *  current batch is full, contains a command with the same ID, or is incompatible with the command. */
  #takeBatch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const room = new Batch();
    const ids = new Set<string>();
    for (const one of this.#waiting) {
      const fits =
        batch.length < maxBatch &&
        !ids.has(one.context.commandId) &&
        room.take(bindCommand(one.command));
      if (fits) {
        batch.push(one);
        ids.add(one.context.commandId);
      } else {
        left.push(one);
      }
    }
    this.#waiting = left;
    return batch;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#attempt(batch).catch(async (error: unknown) => {
        // The stale stream has been removed from the cache, so the batch can be retried.
        if (this.#deps.known === undefined || !isLostRace(error)) throw error;
        await this.#attempt(batch);
      });
    } catch (error) {
      // A single command may have caused the failure, so each command is retried in its own transaction. If the
      // database is unavailable, or if the transaction may have been committed, the callers decide whether to retry.
      if (sqlState(error) === undefined && !isLostRace(error)) reject(batch, error);
      else await this.#commitAlone(batch, error);
    }
  }

  async #commitAlone(batch: readonly Waiting[], cause: unknown): Promise<void> {
    if (batch.length === 1 && !isLostRace(cause)) {
      reject(batch, cause);
      return;
    }
    for (const one of batch) await this.#retry(one);
  }

  async #retry(one: Waiting): Promise<void> {
    for (let attempt = 2; ; attempt += 1) {
      try {
        await this.#attempt([one]);
        return;
      } catch (error) {
        if (attempt < attempts && isLostRace(error)) continue;
        reject([one], error);
        return;
      }
    }
  }

  async #attempt(batch: readonly Waiting[]): Promise<void> {
    const { pool, announce, known } = this.#deps;
    const outcomes = await inTransactionByKeys(pool, (client) =>
      executeBatch(client, batch, this.#deps, { commit: () => commit(client), known }),
    );
    const events = outcomes.flatMap((outcome) =>
      outcome.kind === 'accepted' ? outcome.events : [],
    );
    if (events.length > 0) announce(events);
    for (const [index, one] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) one.resolve(outcome);
    }
  }
}

function reject(batch: readonly Waiting[], error: unknown): void {
  for (const one of batch) one.reject(error);
}

function isLostRace(error: unknown): boolean {
  return error instanceof VersionConflict || raceStates.has(sqlState(error));
}
