/** Upcasts convert old events to the current format. Stored events never change. If the data of an event type
 *  changes its format, the type gets a new schema version. `domain/<aggregate>/upcast.ts` contains the upcast from
 *  each version to the next. Upcasts are pure and permanent. */
import type { RecordedEvent } from './kernel/event.ts';

/** Converts event data from one schema version to the next. */
export type Upcast = (data: unknown) => unknown;

/** The upcasts of each event type. The first upcast converts version 1 to 2, the next upcast converts 2 to 3, and so
 *  on. */
export type Upcasts = Readonly<Record<string, readonly Upcast[]>>;

export interface Upcaster {
  /** Returns the current schema version of an event type, starting at 1. */
  readonly schemaVersionOf: (type: string) => number;
  /** All event types whose format has changed, with their current versions, such as `FileSaved:2`. */
  readonly currentUpcasts: readonly string[];
  /** Converts an event to the current format. Returns the same object if the format is already current.
   *  @throws Error if a newer release of the platform wrote the event. Guessing its format could fold it
   *  incorrectly. */
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

/** Add an aggregate's upcasts to this list. Currently, every event type still has its first format. */
const upcasts: Upcasts = {};

export const { upcast, schemaVersionOf, currentUpcasts } = upcasterOf(upcasts);
