/** Group commit: commands that arrive during a commit are executed together afterwards. A single command is executed
 *  immediately. */
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
import type { Write } from '#projections/projection.ts';
import type pg from 'pg';
import { commit, inTransaction, inTransactionByKeys, sqlState } from '../database.ts';
import { Batch, executeBatch, refusalOf, type BatchParts, type Commit } from './command-batch.ts';
import { executeSequence } from './command-sequence.ts';
import type { KnownStreams } from './known-streams.ts';

const maxBatch = 64;
/** Another lane opens when a full batch waits. Below that, commands that arrive during a commit are cheaper in one
 *  batch than in two. */
const lanes = 2;
/** Losing a race is no failure: the command is decided again on what the winner left behind. */
const attempts = 5;
const raceStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505']);

export interface CommandPipelineParts extends BatchParts {
  readonly pool: pg.Pool;
  /** Called with the recorded events after the commit.
   *  @param told the result of `tell`, if it has sent the messages already */
  readonly announce: (events: readonly Recorded[], told?: Promise<unknown>) => void;
  /** A statement that notifies others, pipelined after COMMIT without waiting for its reply. Its messages must be
   *  harmless if the commit fails, and positions are not known yet; `undefined` if the messages need either. */
  readonly tell?: ((events: readonly Recorded[]) => Write | undefined) | undefined;
  /** Histories of recently used streams: commands on them take one round trip. */
  readonly known?: KnownStreams | undefined;
}

interface Waiting extends CommandRequest {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class CommandPipeline implements Commands {
  readonly #parts: CommandPipelineParts;
  #waiting: Waiting[] = [];
  #busyLanes = 0;

  constructor(parts: CommandPipelineParts) {
    this.#parts = parts;
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
    const { pool, announce } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const outcome = await executeSequence(pool, requests, tryOnly, this.#parts);
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
    return await inTransaction(this.#parts.pool, (client) =>
      refusalOf(client, command, this.#parts),
    );
  }

  async #work(): Promise<void> {
    this.#busyLanes += 1;
    while (this.#waiting.length > 0) {
      await this.#commit(this.#takeBatch());
      // An answered caller may send its next command immediately. The command then joins the waiting ones, so that
      // small batches do not alternate with large ones.
      if (this.#waiting.length > 0) await nextTurn();
    }
    this.#busyLanes -= 1;
  }

  /** Takes what can be decided together. A command waits for the next batch when a stream that guards
   *  it is written in this one, when it is not its turn, or when its own twin is in it. */
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
        // What was known of a stream was out of date, and is forgotten now.
        if (this.#parts.known === undefined || !isLostRace(error)) throw error;
        await this.#attempt(batch);
      });
    } catch (error) {
      // One command may have failed them all: each is given a transaction of its own. Where the
      // database is away, or may have committed, trying again is for the callers to decide.
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

  /** Notifies without waiting for the reply to the commit. */
  #tell(client: pg.PoolClient, events: readonly Recorded[]): Promise<unknown> | undefined {
    const statement = events.length === 0 ? undefined : this.#parts.tell?.(events);
    if (statement === undefined) return undefined;
    const told = client.query(statement.text, [...statement.values]);
    // `announce` handles a failure later.
    told.catch(() => undefined);
    return told;
  }

  async #attempt(batch: readonly Waiting[]): Promise<void> {
    const { pool, announce, known } = this.#parts;
    let told: Promise<unknown> | undefined;
    const outcomes = await inTransactionByKeys(pool, (client) => {
      const committing: Commit = (events) => {
        const committed = commit(client);
        told = this.#tell(client, events);
        return committed;
      };
      return executeBatch(client, batch, this.#parts, { commit: committing, known });
    });
    const events = outcomes.flatMap((outcome) =>
      outcome.kind === 'accepted' ? outcome.events : [],
    );
    if (events.length > 0) announce(events, told);
    for (const [index, one] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) one.resolve(outcome);
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function reject(batch: readonly Waiting[], error: unknown): void {
  for (const one of batch) one.reject(error);
}

function isLostRace(error: unknown): boolean {
  return error instanceof VersionConflict || raceStates.has(sqlState(error));
}
