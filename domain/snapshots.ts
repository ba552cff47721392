/** Snapshots: states kept along a stream, so that a long one is not folded from its beginning every
 *  time. They follow from the events alone: one that is lost, or was made by a program that folds
 *  otherwise, costs time and nothing else. */
import type { Aggregate } from './kernel/aggregate.ts';
import type { DomainEvent, RecordedEvent } from './kernel/event.ts';
import { packed, unpacked } from './kernel/json.ts';
import { upcastsOfToday } from './upcasts.ts';

/** Events from one snapshot to the next, at least: a stream that is shorter has none. */
export const snapshotEvery = 200;

/** What an event takes in the store, about. A large state is kept that much less often: all snapshots of
 *  a stream together take no more than its events. */
const eventBytes = 500;

export interface Snapshot {
  /** `formatOf` the aggregate whose state it is. */
  readonly format: string;
  /** The last event that was folded. */
  readonly last: RecordedEvent;
  /** The state after it, as JSON. */
  readonly state: unknown;
  /** Length of that JSON as text. */
  readonly size: number;
}

/** A stream as far as it is known: the events after a snapshot, or all of them. */
export interface History {
  readonly from?: Snapshot | undefined;
  readonly events: readonly RecordedEvent[];
}

export const noHistory: History = { events: [] };

/** How many events the stream has so far. */
export function versionOf({ from, events }: History): number {
  return (from?.last.version ?? 0) + events.length;
}

/** The last of them. */
export function lastOf({ from, events }: History): RecordedEvent | undefined {
  return events.at(-1) ?? from?.last;
}

type Folding<State, Event extends DomainEvent> = Pick<
  Aggregate<State, never, Event, never>,
  'initial' | 'evolve' | 'evolveAll' | 'stateVersion'
>;

export function stateAfter<State, Event extends DomainEvent>(
  { initial, evolve, evolveAll }: Folding<State, Event>,
  { from, events }: History,
): State {
  const before = from === undefined ? initial : (unpacked(from.state) as State);
  // The stream's prefix says whose events these are.
  const own = events as unknown as readonly (Event & { readonly version: number })[];
  return (
    evolveAll?.(before, own) ??
    own.reduce((state, event) => evolve(state, event, event.version), before)
  );
}

/** The snapshots that are due on the way through the events. */
export function snapshotsAlong<State, Event extends DomainEvent>(
  aggregate: Folding<State, Event>,
  history: History,
): readonly Snapshot[] {
  const due: Snapshot[] = [];
  let { from, events } = history;
  for (;;) {
    const count = versionAfter(from) - (from?.last.version ?? 0);
    const last = events[count - 1];
    if (last === undefined) return due;
    const state = packed(stateAfter(aggregate, { from, events: events.slice(0, count) }));
    from = { format: formatOf(aggregate), last, state, size: JSON.stringify(state).length };
    due.push(from);
    events = events.slice(count);
  }
}

/** Where the next snapshot is due. */
function versionAfter(snapshot: Snapshot | undefined): number {
  if (snapshot === undefined) return snapshotEvery;
  const { last, size } = snapshot;
  return last.version + Math.max(snapshotEvery, Math.ceil(size / eventBytes));
}

/** What a snapshot must be of to be used: the aggregate's states, folded from events in the shape of
 *  today. */
export function formatOf({ stateVersion }: Pick<Folding<unknown, never>, 'stateVersion'>): string {
  return [stateVersion, ...upcastsOfToday].join(' ');
}
