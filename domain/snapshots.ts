/** Snapshots are stored states of a stream. Thanks to snapshots, long streams are not folded from the beginning.
 *  Snapshots derive from the events, so a missing or outdated snapshot only makes folding slower. */
import type { Aggregate } from './kernel/aggregate.ts';
import type { DomainEvent, RecordedEvent } from './kernel/event.ts';
import { packJson, unpackJson } from './kernel/json.ts';
import { currentUpcasts } from './upcasts.ts';

/** Minimum number of events between two snapshots. Shorter streams have no snapshots. */
export const snapshotEvery = 200;

/** Approximate size of a stored event. Snapshots of large states are less frequent, so that the snapshots of a
 *  stream take no more space than its events. */
const eventBytes = 500;

export interface Snapshot {
  /** The result of `formatOf` for the aggregate to which the state belongs. */
  readonly format: string;
  /** The last event that was folded. */
  readonly last: RecordedEvent;
  /** The state after that event, as JSON. */
  readonly state: unknown;
  /** Length of the state as JSON text. */
  readonly size: number;
}

/** The part of a stream that was read: either the events after a snapshot, or all events. */
export interface History {
  readonly from?: Snapshot | undefined;
  readonly events: readonly RecordedEvent[];
}

export const noHistory: History = { events: [] };

/** Returns the number of events in the stream. */
export function versionOf({ from, events }: History): number {
  return (from?.last.version ?? 0) + events.length;
}

/** Returns the last event of the stream, or `undefined` if the stream is empty. */
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
  const before = from === undefined ? initial : (unpackJson(from.state) as State);
  // Safe, because the prefix of the stream ID determines the event types.
  const own = events as unknown as readonly (Event & { readonly version: number })[];
  return (
    evolveAll?.(before, own) ??
    own.reduce((state, event) => evolve(state, event, event.version), before)
  );
}

/** Returns the snapshots that are due for the given events. */
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
    const state = packJson(stateAfter(aggregate, { from, events: events.slice(0, count) }));
    from = { format: formatOf(aggregate), last, state, size: JSON.stringify(state).length };
    due.push(from);
    events = events.slice(count);
  }
}

/** Returns the version at which the next snapshot is due. */
function versionAfter(snapshot: Snapshot | undefined): number {
  if (snapshot === undefined) return snapshotEvery;
  const { last, size } = snapshot;
  return last.version + Math.max(snapshotEvery, Math.ceil(size / eventBytes));
}

/** Returns the current format of an aggregate's snapshots. The format changes with the version of the aggregate's
 *  state and with the schema versions of its events. Snapshots in another format are ignored. */
export function formatOf({ stateVersion }: Pick<Folding<unknown, never>, 'stateVersion'>): string {
  return [stateVersion, ...currentUpcasts].join(' ');
}
