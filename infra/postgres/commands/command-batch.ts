/** Carries a batch of commands out in one transaction: lock, fold, decide, append, project.
 *
 *  The streams concerned are locked first, all of them and in one order, by locks that give the
 *  transaction no id yet. Readers order events by that id: were it given while a stream is still to be
 *  locked, another writer could pass through that stream with a later id and earlier events. */
import { handlingOf, type Command, type Handling, type Recorded } from '#domain/aggregates.ts';
import type { DecisionReads } from '#domain/kernel/aggregate.ts';
import type { Refusal } from '#domain/kernel/decision.ts';
import { isStorable } from '#domain/kernel/json.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext, CommandRequest, Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { noHistory } from '#domain/snapshots.ts';
import {
  applyAll,
  together,
  writesOf,
  type Projection,
  type ReadModels,
} from '#projections/projection.ts';
import type pg from 'pg';
import { queryBuilderOn } from '../database.ts';
import { appendEvents } from '../event-store/event-store.ts';
import { putPayloads } from '../event-store/payloads.ts';
import { readHistories, storeSnapshots } from '../event-store/stream-histories.ts';
import {
  askedAhead,
  BatchStreams,
  NotAsked,
  unexpectedReads,
  type Place,
} from './batch-streams.ts';
import { findAnswers, storeAnswers } from './command-answers.ts';
import type { KnownStreams } from './known-streams.ts';

/** Locks streams until the transaction ends, in one order for everybody. */
export const lockStreams = `SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended(stream_id, 0) AS key FROM unnest($1::text[]) AS stream_id
  ORDER BY key OFFSET 0) AS keys`;

export interface BatchParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly projections: readonly Projection[];
  readonly decisionReads: (db: ReadModels) => DecisionReads;
}

/** Ends the transaction, and may be sent along with its last statements: one that has failed is rolled back by
 *  it. Told what it is that is kept; where each event stands may not be known yet. */
export type Commit = (events: readonly Recorded[]) => Promise<void>;

/** What became of one command before anything is recorded. */
type Verdict =
  | { readonly kind: 'settled'; readonly outcome: Outcome }
  | { readonly kind: 'accepted'; readonly place: Place };

const unstorable = {
  kind: 'refused',
  refusal: {
    code: 'validation_failed',
    detail: 'Text may hold neither NUL nor half of a surrogate pair.',
  },
} as const satisfies Outcome;

/** What may be decided together: no command may be guarded by a stream that another one writes, and of
 *  those that take turns each comes alone. */
export class Batch {
  readonly #written = new Set<string>();
  readonly #guarding = new Set<string>();

  /** Whether the command still finds a place; it is taken where it does. */
  take({ streamId, guards, exclusiveGuards }: Handling): boolean {
    const fits = !this.#guarding.has(streamId) && !guards.some((guard) => this.#written.has(guard));
    if (!fits) return false;
    this.#written.add(streamId);
    for (const guard of exclusiveGuards) this.#written.add(guard);
    for (const guard of guards) this.#guarding.add(guard);
    return true;
  }
}

/** How a batch is carried out. */
export interface CarryingOut {
  /** Absent where the caller ends the transaction. */
  readonly commit?: Commit;
  /** Where a batch that asks for nothing else may be decided on what is known of its streams. Only with `commit`:
   *  what is recorded is known then. */
  readonly known?: KnownStreams | undefined;
}

/** Decides and records all commands in the transaction that `client` has begun. Each sees what those
 *  before it have done. No command may be guarded by a stream that another one of the batch writes.
 *  @returns an outcome for each, in order
 *  @throws VersionConflict also where what was known of a stream was out of date; it is forgotten then */
export async function carryOut(
  client: pg.PoolClient,
  requests: readonly CommandRequest[],
  parts: BatchParts,
  { commit = () => Promise.resolve(), known }: CarryingOut = {},
): Promise<readonly Outcome[]> {
  const handlings = requests.map(({ command }) => handlingOf(command));
  const written = new Map(handlings.map((handling) => [handling.streamId, handling]));
  const guards = handlings.flatMap((handling) => handling.guards);
  // Twins of a command may write different streams: the second is to find the answer of the first.
  const twins = requests.flatMap(({ context }) =>
    context.fingerprint === undefined ? [] : [`command-${context.commandId}`],
  );
  const db = readModelsOn(client);
  const batch = { client, db, requests, handlings, parts, commit, known };
  const histories = guards.length + twins.length > 0 ? undefined : known?.all(written.keys());
  const ahead = histories && (await decidedAhead(batch, new BatchStreams(histories, written)));
  // Sent at once, carried out one after the other: the reads see what was committed before the locks.
  const locked = client.query(lockStreams, [[...written.keys(), ...guards, ...twins]]);
  if (ahead !== undefined) {
    try {
      const [, outcomes] = await together([locked, record({ ...batch, ...ahead })]);
      return outcomes;
    } catch (error) {
      known?.forget(written.keys());
      throw error;
    }
  }
  const asked = askedAhead(parts.decisionReads(db), guards);
  const [, answers, read] = await together([
    locked,
    findAnswers(
      client,
      requests.map(({ context }) => context),
    ),
    readHistories(client, [...written.values()]),
  ]);
  const streams = new BatchStreams(read, written);
  const verdicts = await decideAll(batch, streams, streams.seenFrom(asked), answers);
  return await record({ ...batch, streams, verdicts });
}

type Deciding = Pick<Recording, 'requests' | 'handlings' | 'parts'>;

/** In order: each sees what those before it have done. */
async function decideAll(
  { requests, handlings, parts }: Deciding,
  streams: BatchStreams,
  reads: DecisionReads,
  answers: (context: CommandContext) => Outcome | undefined,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [index, { command, context }] of requests.entries()) {
    const answer = answers(context) ?? (isStorable(command) ? undefined : unstorable);
    const handling = handlings[index];
    if (answer !== undefined || handling === undefined) {
      verdicts.push({ kind: 'settled', outcome: answer ?? unstorable });
      continue;
    }
    const decision = await handling.decide(streams.historyOf(handling.streamId), reads);
    verdicts.push(
      decision.kind === 'refused'
        ? { kind: 'settled', outcome: decision }
        : {
            kind: 'accepted',
            place: streams.add(handling.streamId, decision.events, context, parts.ids),
          },
    );
  }
  return verdicts;
}

/** Decides on what is known of the streams. `undefined` where that is not enough: where a fact is asked for, and
 *  where a command records nothing, so that no append tells whether what is known is still so. */
async function decidedAhead(
  batch: Deciding,
  streams: BatchStreams,
): Promise<Pick<Recording, 'streams' | 'verdicts'> | undefined> {
  try {
    const verdicts = await decideAll(batch, streams, unexpectedReads, () => undefined);
    const isRecorded = (one: Verdict) => one.kind === 'accepted' && one.place.count > 0;
    return verdicts.every(isRecorded) ? { streams, verdicts } : undefined;
  } catch (error) {
    if (error instanceof NotAsked) return undefined;
    throw error;
  }
}

interface Recording {
  readonly client: pg.PoolClient;
  readonly db: ReadModels;
  readonly requests: readonly CommandRequest[];
  /** Of the requests, in order. */
  readonly handlings: readonly Handling[];
  readonly verdicts: readonly Verdict[];
  readonly streams: BatchStreams;
  readonly parts: BatchParts;
  readonly commit: Commit;
  readonly known: KnownStreams | undefined;
}

/** The events, the rows that follow from them and the commit leave at once, where no row has to be asked for:
 *  a statement that fails makes Postgres refuse those behind it, and the commit a rollback. */
async function record(recording: Recording): Promise<readonly Outcome[]> {
  const { client, db, verdicts, streams, parts, commit, known } = recording;
  const recordedAt = parts.clock.now();
  const expected = streams.events(recordedAt);
  const writes = writesOf(parts.projections, expected, (streamId) => streams.pastOf(streamId));
  const appended = appendEvents(client, streams.appends(), recordedAt);
  const beside = [
    ...(writes ?? []).map(({ text, values }) => client.query(text, [...values])),
    ...keepBeside(recording, expected, recordedAt),
  ];
  const isAll = writes !== undefined;
  const [recorded] = await together([appended, ...beside, isAll ? commit(expected) : undefined]);
  const events = recorded as readonly Recorded[];
  if (!isAll) {
    await applyAll(parts.projections, db, events);
    await commit(events);
  }
  if (known !== undefined) {
    for (const [streamId, history] of streams.historiesAfter(events)) known.keep(streamId, history);
  }
  return verdicts.map((verdict) =>
    verdict.kind === 'settled' ? verdict.outcome : streams.outcomeOf(verdict.place, events),
  );
}

/** What is kept beside the events: contents that they name, answers and snapshots. */
function keepBeside(
  { client, requests, verdicts, streams }: Recording,
  events: readonly Recorded[],
  recordedAt: Date,
): readonly Promise<void>[] {
  const accepted = requests.flatMap((request, index) => {
    const verdict = verdicts[index];
    return verdict?.kind === 'accepted' ? [{ ...request, place: verdict.place }] : [];
  });
  const answered = accepted.flatMap(({ context: { commandId, fingerprint }, place }) => {
    const version = place.after + place.count;
    return fingerprint === undefined
      ? []
      : [{ commandId, fingerprint, streamId: place.streamId, version }];
  });
  return [
    putPayloads(
      client,
      accepted.flatMap(({ content }) => content ?? []),
    ),
    storeAnswers(client, answered, recordedAt),
    storeSnapshots(client, streams.snapshotsDue(events)),
  ];
}

/** The read models inside the transaction of `client`. */
function readModelsOn(client: pg.PoolClient): ReadModels {
  return queryBuilderOn<never>(client) as unknown as ReadModels;
}

/** What a command would be refused for now; decides without locks and records nothing. */
export async function refusalOf(
  client: pg.PoolClient,
  command: Command,
  parts: BatchParts,
): Promise<Refusal | undefined> {
  if (!isStorable(command)) return unstorable.refusal;
  const handling = handlingOf(command);
  const histories = await readHistories(client, [handling]);
  const reads = parts.decisionReads(readModelsOn(client));
  const decision = await handling.decide(histories.get(handling.streamId) ?? noHistory, reads);
  return decision.kind === 'refused' ? decision.refusal : undefined;
}
