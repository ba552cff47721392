/** Old events in the shape of today. What is stored never changes: a new shape of an event's data is a
 *  new schema version, and `domain/<aggregate>/upcast.ts` holds the steps from each version to the
 *  next. They are pure and stay for good. */
import type { RecordedEvent } from './kernel/event.ts';

/** Makes the data of one schema version that of the next. */
export type Upcast = (data: unknown) => unknown;

/** By event type: the first step leads from version 1 to 2, the next from 2 to 3, and so on. */
export type Upcasts = Readonly<Record<string, readonly Upcast[]>>;

export interface Upcaster {
  /** The schema version in which events of this type are written now, from 1. */
  readonly schemaVersionOf: (type: string) => number;
  /** Every type that has changed its shape, with its version of now, such as `FileSaved:2`. */
  readonly upcastsOfToday: readonly string[];
  /** The event as it would be written now; itself where it is of today's version.
   *  @throws Error when a newer version of the program wrote it: guessing would fold it wrongly */
  readonly upcast: (event: RecordedEvent) => RecordedEvent;
}

export function upcasterOf(upcasts: Upcasts): Upcaster {
  const steps = new Map(Object.entries(upcasts));
  const schemaVersionOf = (type: string) => (steps.get(type)?.length ?? 0) + 1;
  return {
    schemaVersionOf,
    upcastsOfToday: [...steps.keys()].toSorted().map((type) => `${type}:${schemaVersionOf(type)}`),
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

/** The list that the steps of an aggregate join. Every event is still in its first shape. */
const upcasts: Upcasts = {};

export const { upcast, schemaVersionOf, upcastsOfToday } = upcasterOf(upcasts);
