/** Carries commands out: lock, fold, decide, append, project, in one transaction each.
 *
 *  Locks are taken in one order by everybody, so no two commands wait for each other in a ring: first
 *  the head of the stream that is written, then those of its guards, by id; then the rows of the inline
 *  projections, projection by projection. */
import { handlingOf, type Command, type PlatformEvent, type Recorded } from '#domain/aggregates.ts';
import type { World } from '#domain/kernel/aggregate.ts';
import { refuse, type Decision, type Refusal } from '#domain/kernel/decision.ts';
import { startOfStore, type NewEvent, type RecordedEvent } from '#domain/kernel/event.ts';
import { known, parseEventId } from '#domain/kernel/ids.ts';
import { isStorable } from '#domain/kernel/json.ts';
import type { BusMessage } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext, Commands, Outcome } from '#domain/ports/commands.ts';
import { VersionConflict } from '#domain/ports/event-store.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { applyAll, type Projection, type ReadModels } from '#projections/projection.ts';
import type pg from 'pg';
import { findAnswer, storeAnswer } from './command-answers.ts';
import { inTransaction, queryBuilderOn, sqlState, type Queryable } from './database.ts';
import { appendEvents, readStream } from './event-store.ts';

// The first row lock gives the transaction its id, by which readers order events. Were that the lock of
// a guard, another writer could pass through the stream in between, with a later id and earlier events.
const lockStreams = `SELECT stream_id FROM streams WHERE stream_id = ANY($2)
  ORDER BY stream_id <> $1, stream_id FOR UPDATE`;

/** Losing a race is no failure: the command is decided again on what the winner left behind. */
const attempts = 5;
const raceStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505']);

export interface CommandPipelineParts {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly projections: readonly Projection[];
  readonly worldOf: (db: ReadModels) => World;
  /** Told what was recorded, once it is committed. */
  readonly announce: (events: readonly Recorded[]) => void;
}

export class CommandPipeline implements Commands {
  readonly #parts: CommandPipelineParts;

  constructor(parts: CommandPipelineParts) {
    this.#parts = parts;
  }

  async execute(command: Command, context: CommandContext): Promise<Outcome> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const outcome = await inTransaction(this.#parts.pool, (client) =>
          this.#carryOut(client, command, context),
        );
        if (outcome.kind === 'accepted' && outcome.events.length > 0 && !outcome.repeated) {
          this.#parts.announce(outcome.events);
        }
        return outcome;
      } catch (error) {
        if (attempt >= attempts || !isLostRace(error)) throw error;
      }
    }
  }

  async check(command: Command): Promise<Refusal | undefined> {
    return await inTransaction(this.#parts.pool, async (client) => {
      const { decision } = await this.#decide(client, command);
      return decision.kind === 'refused' ? decision.refusal : undefined;
    });
  }

  async #carryOut(
    client: pg.PoolClient,
    command: Command,
    context: CommandContext,
  ): Promise<Outcome> {
    const answer = await this.#answerTo(client, context);
    if (answer !== undefined) return answer;
    const { decision, history, streamId } = await this.#decide(client, command);
    if (decision.kind === 'refused') {
      // The same command may have won the race for the locks: what it left behind is refused its
      // repetition, which is to be answered as the first was.
      return (await this.#answerTo(client, context)) ?? decision;
    }
    const version = history.length;
    const recordedAt = this.#parts.clock.now();
    const events = (await appendEvents(
      client,
      [{ streamId, expectedVersion: version, events: this.#envelopes(decision.events, context) }],
      recordedAt,
    )) as readonly Recorded[];
    const db = queryBuilderOn<never>(client) as unknown as ReadModels;
    await applyAll(this.#parts.projections, db, events);
    const outcome: Outcome = {
      kind: 'accepted',
      events,
      streamId,
      version: version + events.length,
      position: (events.at(-1) ?? history.at(-1))?.position ?? startOfStore,
      repeated: false,
    };
    if (context.fingerprint !== undefined) {
      await storeAnswer(client, context.commandId, context.fingerprint, outcome, recordedAt);
    }
    return outcome;
  }

  async #answerTo(client: pg.PoolClient, context: CommandContext): Promise<Outcome | undefined> {
    const { commandId, fingerprint } = context;
    return fingerprint === undefined ? undefined : await findAnswer(client, commandId, fingerprint);
  }

  async #decide(client: pg.PoolClient, command: Command) {
    const { streamId, guards, decide } = handlingOf(command);
    if (!isStorable(command)) return { decision: unstorable, history: [], streamId };
    const history = await lockAndRead(client, streamId, guards);
    const world = this.#parts.worldOf(queryBuilderOn<never>(client) as unknown as ReadModels);
    const decision: Decision<PlatformEvent> = await decide(history, world);
    return { decision, history, streamId };
  }

  #envelopes(events: readonly PlatformEvent[], context: CommandContext): NewEvent[] {
    const { commandId, actor, ip, correlationId, causationId } = context;
    return events.map(({ type, data }) => ({
      eventId: known(parseEventId, this.#parts.ids.next()),
      type,
      schemaVersion: 1,
      data,
      metadata: { commandId, actor, ip, correlationId, causationId },
    }));
  }
}

const unstorable: Decision<never> = refuse(
  'validation_failed',
  'Text may hold neither NUL nor half of a surrogate pair.',
);

async function lockAndRead(
  client: Queryable,
  streamId: RecordedEvent['streamId'],
  guards: readonly string[],
): Promise<readonly RecordedEvent[]> {
  const { rows } = await client.query<{ stream_id: string }>(lockStreams, [
    streamId,
    [streamId, ...guards],
  ]);
  const exists = rows.some((row) => row.stream_id === streamId);
  return exists ? await readStream(client, streamId, 1) : [];
}

function isLostRace(error: unknown): boolean {
  return error instanceof VersionConflict || raceStates.has(sqlState(error));
}

/** What other processes are told about events that were recorded. */
export function announcements(events: readonly Recorded[]): readonly BusMessage[] {
  const messages: BusMessage[] = [{ topic: 'events' }];
  for (const event of events) {
    switch (event.type) {
      case 'RunQueued':
        messages.push({ topic: 'queue' }, { topic: 'status', runId: event.data.runId });
        break;
      case 'RunStopRequested':
        messages.push({ topic: 'stop', runId: event.data.runId });
        break;
      case 'RunFinished':
        // Whoever prepares a run that was still waiting has to give it up.
        if (event.data.outcome === 'stopped') {
          messages.push({ topic: 'stop', runId: event.data.runId });
        }
        messages.push({ topic: 'status', runId: event.data.runId });
        break;
      case 'RunStarted':
        messages.push({ topic: 'status', runId: event.data.runId });
        break;
      case 'ScriptCreated':
      case 'ScriptChanged':
      case 'FileSaved':
      case 'ScriptEnabled':
      case 'ScriptDisabled':
      case 'ScriptDeleted':
      case 'UserCreated':
      case 'SessionOpened':
      case 'SessionRefreshed':
      case 'SessionClosed':
      case 'GroupCreated':
      case 'RequestRefused':
        break;
    }
  }
  return messages;
}
