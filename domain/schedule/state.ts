import { canonicalJson } from '#domain/kernel/json.ts';
import type { ScheduleEvent } from './events.ts';

export type ScheduleState =
  | { readonly status: 'absent' | 'deleted' }
  | {
      readonly status: 'present';
      /** The version of the definition, starting at 1. */
      readonly version: number;
      /** The definition as canonical JSON, which can be compared as text. */
      readonly definition: string;
    };

export const initialSchedule: ScheduleState = { status: 'absent' };

export function evolveSchedule(state: ScheduleState, event: ScheduleEvent): ScheduleState {
  switch (event.type) {
    case 'ScheduleCreated':
      return { status: 'present', version: 1, definition: canonicalJson(event.data.definition) };
    case 'ScheduleChanged':
      return state.status === 'present'
        ? {
            status: 'present',
            version: state.version + 1,
            definition: canonicalJson(event.data.definition),
          }
        : state;
    case 'ScheduleDeleted':
      return { status: 'deleted' };
    case 'OccurrencesPassed':
      return state;
  }
}
