/** Converts old events to the current shape. Stored events never change. A new shape of an event's data is a new
 *  schema version, and `domain/<aggregate>/upcast.ts` holds the steps from each version to the next. Steps are
 *  pure and permanent. */
import type { RecordedEvent } from './kernel/event.ts';

/** Converts event data from one schema version to the next. */
export type Upcast = (data: unknown) => unknown;

/** By event type: the first step converts version 1 to 2, the next 2 to 3, and so on. */
export type Upcasts = Readonly<Record<string, readonly Upcast[]>>;

export interface Upcaster {
  /** The current schema version of events of this type, from 1. */
  readonly schemaVersionOf: (type: string) => number;
  /** Every type with a changed shape and its current version, such as `FileSaved:2`. */
  readonly currentUpcasts: readonly string[];
  /** The event in the current shape; the same object if the event is current.
   *  @throws Error if a newer version of the program wrote the event, because a guess would fold it incorrectly */
  readonly upcast: (event: RecordedEvent) => RecordedEvent;
}

export function upcasterOf(upcasts: Upcasts): Upcaster {
  const steps = new Map(Object.entries(upcasts));
  const schemaVersionOf = (type: string) => (steps.get(type)?.length ?? 0) + 1;
  return {
    schemaVersionOf,
    currentUpcasts: [...steps.keys()].toSorted().map((type) => `${type}:${schemaVersionOf(type)}`),
    upcast: (event) => {
      const newest = schemaVersionOf(event.type);
      if (event.schemaVersion === newest) return event;
      if (event.schemaVersion > newest) {
        throw new Error(
          `${event.type} ${event.eventId} has schema version ${event.schemaVersion}, written by a newer ` +
            `version of the program; this version supports up to ${newest}`,
        );
      }
      const missing = (steps.get(event.type) ?? []).slice(event.schemaVersion - 1);
      const data = missing.reduce((older: unknown, step) => step(older), event.data);
      return { ...event, data, schemaVersion: newest };
    },
  };
}

/** Add the steps of an aggregate to this list. So far, every event has its first shape. */
const upcasts: Upcasts = {};

export const { upcast, schemaVersionOf, currentUpcasts } = upcasterOf(upcasts);
