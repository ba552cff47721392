import type { CalendarContent } from './calendar.ts';
import type { CalendarEvent } from './events.ts';

export type CalendarState =
  | { readonly status: 'absent' | 'deleted' }
  | { readonly status: 'present'; readonly name: string; readonly content: CalendarContent };

export const initialCalendar: CalendarState = { status: 'absent' };

export function evolveCalendar(state: CalendarState, event: CalendarEvent): CalendarState {
  switch (event.type) {
    case 'CalendarCreated': {
      const { name, content } = event.data;
      return { status: 'present', name, content };
    }
    case 'CalendarChanged': {
      const { name, content } = event.data;
      return state.status === 'present' ? { status: 'present', name, content } : state;
    }
    case 'CalendarDeleted':
      return { status: 'deleted' };
  }
}
