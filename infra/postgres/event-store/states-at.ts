/** Computes the state of streams at a point in time from events alone. The `?at=` parameter, the replay and its
 *  comparison show these states. */
import type { Aggregate } from '#domain/kernel/aggregate.ts';
import type { DomainEvent, StreamId } from '#domain/kernel/event.ts';
import { formatOf, noHistory, stateAfter } from '#domain/snapshots.ts';
import type { Queryable } from '../database.ts';
import { readHistories } from './stream-histories.ts';
import { versionsAt, type Moment } from './streams-at.ts';

/** A stream up to a version. */
export interface StreamAt {
  readonly streamId: StreamId;
  /** The last version to include. By default, all events are included. */
  readonly until?: number | undefined;
}

export type Folding<State, Event extends DomainEvent> = Pick<
  Aggregate<State, never, Event, never>,
  'initial' | 'evolve' | 'evolveAll' | 'stateVersion'
>;

/** Returns the streams, each up to its version at a point in time. */
export async function streamsUntil(
  db: Queryable,
  streamIds: readonly StreamId[],
  moment: Moment,
): Promise<readonly (StreamAt & { readonly until: number })[]> {
  const versions = await versionsAt(db, streamIds, moment);
  return streamIds.map((streamId) => ({ streamId, until: versions.get(streamId) ?? 0 }));
}

/** Returns the states of streams of one aggregate type. Each stream must be given once. */
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

/** Returns the state of a single stream, optionally after its first `until` events. */
export async function stateOf<State, Event extends DomainEvent>(
  db: Queryable,
  aggregate: Folding<State, Event>,
  streamId: StreamId,
  until?: number,
): Promise<State> {
  const states = await statesOf(db, aggregate, [{ streamId, until }]);
  return states.get(streamId) ?? aggregate.initial;
}

/** Returns the state of a single stream at a point in time. */
export async function stateAt<State, Event extends DomainEvent>(
  db: Queryable,
  aggregate: Folding<State, Event>,
  streamId: StreamId,
  moment: Moment,
): Promise<State> {
  const versions = await versionsAt(db, [streamId], moment);
  return await stateOf(db, aggregate, streamId, versions.get(streamId));
}
