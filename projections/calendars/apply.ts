import type { Recorded } from '#domain/aggregates.ts';
import type { CalendarEvent } from '#domain/calendar/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { calendarColumns, type CalendarsTable } from './table.ts';

/** Builds the exception calendars. */
export const calendarsProjection: Projection = rowProjection<
  CalendarsTable,
  Recorded<CalendarEvent>
>({
  name: 'calendars',
  version: 1,
  table: 'calendars',
  key: 'calendar_id',
  columns: calendarColumns,
  handles: ['CalendarCreated', 'CalendarChanged', 'CalendarDeleted'],
  keyOf: (event) => event.data.calendarId,
  step: (_row, event) => {
    switch (event.type) {
      case 'CalendarCreated':
      case 'CalendarChanged': {
        const { calendarId, name, content } = event.data;
        return {
          calendar_id: calendarId,
          name,
          periods: content.periods,
          covered_until: new Date(content.coveredUntil),
          updated_at: event.recordedAt,
        };
      }
      case 'CalendarDeleted':
        return undefined;
    }
  },
});
