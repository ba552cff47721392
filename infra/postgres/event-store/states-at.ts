/** States of streams at a point in time, folded from the events alone. `?at=`, the replay and its differences show
 *  these states. */
import type { Aggregate } from '#domain/kernel/aggregate.ts';
import type { DomainEvent, StreamId } from '#domain/kernel/event.ts';
import { formatOf, noHistory, stateAfter } from '#domain/snapshots.ts';
import type { Queryable } from '../database.ts';
import { readHistories } from './stream-histories.ts';
import { versionsAt, type Moment } from './streams-at.ts';

/** A stream up to a version. */
export interface StreamAt {
  readonly streamId: StreamId;
  /** Default: all of its events. */
  readonly until?: number | undefined;
}

export type Folding<State, Event extends DomainEvent> = Pick<
  Aggregate<State, never, Event, never>,
  'initial' | 'evolve' | 'evolveAll' | 'stateVersion'
>;

/** The streams, each up to its version at a point in time. */
export async function streamsUntil(
  db: Queryable,
  streamIds: readonly StreamId[],
  moment: Moment,
): Promise<readonly (StreamAt & { readonly until: number })[]> {
  const versions = await versionsAt(db, streamIds, moment);
  return streamIds.map((streamId) => ({ streamId, until: versions.get(streamId) ?? 0 }));
}

/** The states of streams of one aggregate, each stream named once. */
export async function statesOf<State, Event extends DomainEvent>(
  db: Queryable,
  aggregate: Folding<State, Event>,
  streams: readonly StreamAt[],
): Promise<ReadonlyMap<string, State>> {
  const format = formatOf(aggregate);
  const histories = await readHistories(
    db,
    streams.map((one) => ({ ...one, format })),
  );
  return new Map(
    streams.map(({ streamId }) => [
      streamId,
      stateAfter(aggregate, histories.get(streamId) ?? noHistory),
    ]),
  );
}

/** The state of a single stream; with `until`, after this number of its events. */
export async function stateOf<State, Event extends DomainEvent>(
  db: Queryable,
  aggregate: Folding<State, Event>,
  streamId: StreamId,
  until?: number,
): Promise<State> {
  const states = await statesOf(db, aggregate, [{ streamId, until }]);
  return states.get(streamId) ?? aggregate.initial;
}

/** The state of a single stream at a point in time. */
export async function stateAt<State, Event extends DomainEvent>(
  db: Queryable,
  aggregate: Folding<State, Event>,
  streamId: StreamId,
  moment: Moment,
): Promise<State> {
  const versions = await versionsAt(db, [streamId], moment);
  return await stateOf(db, aggregate, streamId, versions.get(streamId));
}
