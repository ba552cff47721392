/** Carries a batch of commands out in one transaction: lock, fold, decide, append, project.
 *
 *  The streams concerned are locked first, all of them and in one order, by locks that give the
 *  transaction no id yet. Readers order events by that id: were it given while a stream is still to be
 *  locked, another writer could pass through that stream with a later id and earlier events. */
import { handlingOf, type Command, type Handling, type Recorded } from '#domain/aggregates.ts';
import type { World } from '#domain/kernel/aggregate.ts';
import type { Refusal } from '#domain/kernel/decision.ts';
import { isStorable } from '#domain/kernel/json.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandRequest, Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { noHistory } from '#domain/snapshots.ts';
import { applyAll, together, type Projection, type ReadModels } from '#projections/projection.ts';
import type pg from 'pg';
import { askedAhead, BatchStreams, type Place } from './batch-streams.ts';
import { findAnswers, storeAnswers } from './command-answers.ts';
import { queryBuilderOn, type Queryable } from './database.ts';
import { appendEvents } from './event-store.ts';
import { putPayloads } from './payloads.ts';
import { readHistories, storeSnapshots } from './stream-histories.ts';

/** Locks streams until the transaction ends, in one order for everybody. */
export const lockStreams = `SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended(stream_id, 0) AS key FROM unnest($1::text[]) AS stream_id
  ORDER BY key OFFSET 0) AS keys`;

export interface BatchParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly projections: readonly Projection[];
  readonly worldOf: (db: ReadModels) => World;
}

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
  take({ streamId, guards, takesTurns }: Handling): boolean {
    const fits = !this.#guarding.has(streamId) && !guards.some((guard) => this.#written.has(guard));
    if (!fits) return false;
    this.#written.add(streamId);
    for (const guard of takesTurns) this.#written.add(guard);
    for (const guard of guards) this.#guarding.add(guard);
    return true;
  }
}

/** Decides and records all commands in the transaction that `client` has begun. Each sees what those
 *  before it have done. No command may be guarded by a stream that another one of the batch writes.
 *  @returns an outcome for each, in order */
export async function carryOut(
  client: pg.PoolClient,
  requests: readonly CommandRequest[],
  parts: BatchParts,
): Promise<readonly Outcome[]> {
  const handlings = requests.map(({ command }) => handlingOf(command));
  const written = new Map(handlings.map((handling) => [handling.streamId, handling]));
  const guards = handlings.flatMap((handling) => handling.guards);
  // Twins of a command may write different streams: the second is to find the answer of the first.
  const twins = requests.flatMap(({ context }) =>
    context.fingerprint === undefined ? [] : [`command-${context.commandId}`],
  );
  // Sent at once, carried out one after the other: the reads see what was committed before the locks.
  const db = readModelsOn(client);
  const locked = client.query(lockStreams, [[...written.keys(), ...guards, ...twins]]);
  const asked = askedAhead(parts.worldOf(db), guards);
  const [, answers, histories] = await together([
    locked,
    findAnswers(
      client,
      requests.map(({ context }) => context),
    ),
    readHistories(client, [...written.values()]),
  ]);
  const streams = new BatchStreams(histories, written);
  const world = streams.seenFrom(asked);
  const verdicts: Verdict[] = [];
  for (const [index, { command, context }] of requests.entries()) {
    const answer = answers(context) ?? (isStorable(command) ? undefined : unstorable);
    const handling = handlings[index];
    if (answer !== undefined || handling === undefined) {
      verdicts.push({ kind: 'settled', outcome: answer ?? unstorable });
      continue;
    }
    const decision = await handling.decide(streams.historyOf(handling.streamId), world);
    verdicts.push(
      decision.kind === 'refused'
        ? { kind: 'settled', outcome: decision }
        : {
            kind: 'accepted',
            place: streams.add(handling.streamId, decision.events, context, parts.ids),
          },
    );
  }
  return await record(client, db, requests, verdicts, streams, parts);
}

async function record(
  client: Queryable,
  db: ReadModels,
  requests: readonly CommandRequest[],
  verdicts: readonly Verdict[],
  streams: BatchStreams,
  parts: BatchParts,
): Promise<readonly Outcome[]> {
  const recordedAt = parts.clock.now();
  const events = (await appendEvents(client, streams.appends(), recordedAt)) as readonly Recorded[];
  const outcomes = verdicts.map((verdict) =>
    verdict.kind === 'settled' ? verdict.outcome : streams.outcomeOf(verdict.place, events),
  );
  const answered = requests.flatMap(({ context }, index) => {
    const outcome = outcomes[index];
    const { commandId, fingerprint } = context;
    return verdicts[index]?.kind === 'accepted' &&
      outcome?.kind === 'accepted' &&
      fingerprint !== undefined
      ? [{ commandId, fingerprint, outcome }]
      : [];
  });
  const contents = requests.flatMap(({ content }, index) =>
    content !== undefined && verdicts[index]?.kind === 'accepted' ? [content] : [],
  );
  await together([
    applyAll(parts.projections, db, events),
    putPayloads(client, contents),
    storeAnswers(client, answered, recordedAt),
    storeSnapshots(client, streams.snapshotsDue(events)),
  ]);
  return outcomes;
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
  const world = parts.worldOf(readModelsOn(client));
  const decision = await handling.decide(histories.get(handling.streamId) ?? noHistory, world);
  return decision.kind === 'refused' ? decision.refusal : undefined;
}
