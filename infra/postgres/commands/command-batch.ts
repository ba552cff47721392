/** Executes a batch of commands in one transaction: lock, fold, decide, append, project. All streams of the batch are
 *  locked first, in a fixed order, with locks that do not assign a transaction ID. Readers order events by transaction
 *  ID. If the ID were assigned before the last lock, another writer could write earlier events to that stream with a
 *  later ID. */
import {
  bindCommand,
  type Command,
  type CommandBinding,
  type Recorded,
} from '#domain/aggregates.ts';
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
import { saveErrors } from '../logs/run-reports.ts';
import {
  prefetchReads,
  BatchStreams,
  UnexpectedRead,
  unexpectedReads,
  type Place,
} from './batch-streams.ts';
import { findAnswers, storeAnswers } from './command-answers.ts';
import type { KnownStreams } from './known-streams.ts';

/** Locks streams until the end of the transaction, in a fixed order to prevent deadlocks. */
export const lockStreams = `SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended(stream_id, 0) AS key FROM unnest($1::text[]) AS stream_id
  ORDER BY key OFFSET 0) AS keys`;

export interface BatchDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly projections: readonly Projection[];
  readonly decisionReads: (db: ReadModels) => DecisionReads;
}

/** Commits the transaction. The commit may be sent together with the last statements, because it becomes a rollback if
 *  one of them fails. */
type Commit = () => Promise<void>;

/** The result of one command before its events are recorded. */
type Verdict =
  | { readonly kind: 'settled'; readonly outcome: Outcome }
  | { readonly kind: 'accepted'; readonly place: Place };

const unstorable = {
  kind: 'refused',
  refusal: {
    code: 'validation_failed',
    detail: 'Text must not contain NUL characters or unpaired surrogates.',
  },
} as const satisfies Outcome;

/** Collects commands that may be decided together. A command must not be guarded by a stream that another command
 *  writes. Only one command with a given exclusive guard is admitted. */
export class Batch {
  readonly #written = new Set<string>();
  readonly #guarding = new Set<string>();

  /** Adds the command if it is compatible with the batch.
   *  @returns whether the command was added */
  take({ streamId, guards, exclusiveGuards }: CommandBinding): boolean {
    const fits = !this.#guarding.has(streamId) && !guards.some((guard) => this.#written.has(guard));
    if (!fits) return false;
    this.#written.add(streamId);
    for (const guard of exclusiveGuards) this.#written.add(guard);
    for (const guard of guards) this.#guarding.add(guard);
    return true;
  }
}

/** Options for the execution of a batch. */
export interface BatchOptions {
  /** Commits the transaction. Absent if the caller does so. */
  readonly commit?: Commit;
  /** Cached histories. If the batch needs nothing else, it is decided without reading streams. Requires `commit`,
   *  because the recorded events are known only after the commit. */
  readonly known?: KnownStreams | undefined;
}

/** Decides and records all commands in the transaction that `client` has begun. Each command sees the changes of the
 *  earlier commands. No command may be guarded by a stream that another command in the batch writes.
 *  @returns one outcome per command, in order
 *  @throws VersionConflict, including when a cached stream was out of date; that stream is then removed from the
 *  cache */
export async function executeBatch(
  client: pg.PoolClient,
  requests: readonly CommandRequest[],
  deps: BatchDeps,
  { commit = () => Promise.resolve(), known }: BatchOptions = {},
): Promise<readonly Outcome[]> {
  const bindings = requests.map(({ command }) => bindCommand(command));
  const written = new Map(bindings.map((binding) => [binding.streamId, binding]));
  const guards = bindings.flatMap((binding) => binding.guards);
  // Two commands with the same ID may write different streams. The second command must find the first command's result.
  const twins = requests.flatMap(({ context }) =>
    context.fingerprint === undefined ? [] : [`command-${context.commandId}`],
  );
  const db = readModelsOn(client);
  const batch = { client, db, requests, bindings, deps, commit, known };
  const histories = guards.length + twins.length > 0 ? undefined : known?.all(written.keys());
  const ahead = histories && (await decideOnKnown(batch, new BatchStreams(histories, written)));
  // These statements are sent together and executed in order. The reads therefore see everything that was committed
  // before the locks were acquired.
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
  const asked = prefetchReads(deps.decisionReads(db), guards);
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

type Deciding = Pick<Recording, 'requests' | 'bindings' | 'deps'>;

/** Decides the commands in order. Each command sees the changes of the earlier ones. */
async function decideAll(
  { requests, bindings, deps }: Deciding,
  streams: BatchStreams,
  reads: DecisionReads,
  answers: (context: CommandContext) => Outcome | undefined,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [index, { command, context }] of requests.entries()) {
    const answer = answers(context) ?? (isStorable(command) ? undefined : unstorable);
    const binding = bindings[index];
    if (answer !== undefined || binding === undefined) {
      verdicts.push({ kind: 'settled', outcome: answer ?? unstorable });
      continue;
    }
    const decision = await binding.decide(streams.historyOf(binding.streamId), reads);
    verdicts.push(
      decision.kind === 'refused'
        ? { kind: 'settled', outcome: decision }
        : {
            kind: 'accepted',
            place: streams.add(binding.streamId, decision.events, context, deps.ids),
          },
    );
  }
  return verdicts;
}

/**
 * Decides the commands from cached histories only. Returns `undefined` if a command requires a read. Also returns
 * `undefined` if a command records no events, because only an append verifies the cached version.
 */
async function decideOnKnown(
  batch: Deciding,
  streams: BatchStreams,
): Promise<Pick<Recording, 'streams' | 'verdicts'> | undefined> {
  try {
    const verdicts = await decideAll(batch, streams, unexpectedReads, () => undefined);
    const isRecorded = (one: Verdict) => one.kind === 'accepted' && one.place.count > 0;
    return verdicts.every(isRecorded) ? { streams, verdicts } : undefined;
  } catch (error) {
    if (error instanceof UnexpectedRead) return undefined;
    throw error;
  }
}

interface Recording {
  readonly client: pg.PoolClient;
  readonly db: ReadModels;
  readonly requests: readonly CommandRequest[];
  /** The bindings of the requests, in the same order. */
  readonly bindings: readonly CommandBinding[];
  readonly verdicts: readonly Verdict[];
  readonly streams: BatchStreams;
  readonly deps: BatchDeps;
  readonly commit: Commit;
  readonly known: KnownStreams | undefined;
}

/** Records the events. If no row must be read first, the events, their rows and the commit are sent together. After a
 *  failed statement, Postgres rejects the following statements and turns the commit into a rollback. */
async function record(recording: Recording): Promise<readonly Outcome[]> {
  const { client, db, verdicts, streams, deps, commit, known } = recording;
  const recordedAt = deps.clock.now();
  const expected = streams.events(recordedAt);
  const writes = writesOf(deps.projections, expected, (streamId) => streams.pastOf(streamId));
  const appended = appendEvents(client, streams.appends(), recordedAt);
  const others = [
    ...(writes ?? []).map(({ text, values }) => client.query(text, [...values])),
    ...storeRelated(recording, expected, recordedAt),
  ];
  const isAll = writes !== undefined;
  const [recorded] = await together([appended, ...others, isAll ? commit() : undefined]);
  const events = recorded as readonly Recorded[];
  if (!isAll) {
    await applyAll(deps.projections, db, events);
    await commit();
  }
  if (known !== undefined) {
    for (const [streamId, history] of streams.historiesAfter(events)) known.keep(streamId, history);
  }
  return verdicts.map((verdict) =>
    verdict.kind === 'settled' ? verdict.outcome : streams.outcomeOf(verdict.place, events),
  );
}

/** Stores the batch's other data: contents that events refer to, results, and snapshots. */
function storeRelated(
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
  const [errors, payloads] = contentsOf(accepted);
  return [
    saveErrors(client, errors),
    putPayloads(client, payloads),
    storeAnswers(client, answered, recordedAt),
    storeSnapshots(client, streams.snapshotsDue(events)),
  ];
}

/**
 * Returns the contents to store, including the errors of runs that finished in this batch. The errors of runs that had
 * already finished are omitted.
 */
function contentsOf(accepted: readonly (CommandRequest & { readonly place: Place })[]) {
  const errors: { readonly runId: string; readonly content: Uint8Array }[] = [];
  const payloads: Uint8Array[] = [];
  for (const { command, content, place } of accepted) {
    if (content === undefined) continue;
    if (!('error' in command)) payloads.push(content);
    else if (place.count > 0) errors.push({ runId: command.runId, content });
  }
  return [errors, payloads] as const;
}

/** Returns the read models as seen inside the transaction of `client`. */
function readModelsOn(client: pg.PoolClient): ReadModels {
  return queryBuilderOn<never>(client) as unknown as ReadModels;
}

/** Checks a command without locking or recording anything.
 *  @returns the refusal, if any */
export async function refusalOf(
  client: pg.PoolClient,
  command: Command,
  deps: BatchDeps,
): Promise<Refusal | undefined> {
  if (!isStorable(command)) return unstorable.refusal;
  const binding = bindCommand(command);
  const histories = await readHistories(client, [binding]);
  const reads = deps.decisionReads(readModelsOn(client));
  const decision = await binding.decide(histories.get(binding.streamId) ?? noHistory, reads);
  return decision.kind === 'refused' ? decision.refusal : undefined;
}
