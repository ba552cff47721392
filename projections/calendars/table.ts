import type { CalendarPeriod } from '#domain/calendar/calendar.ts';
import type { Columns } from '../columns.ts';

export interface CalendarsTable {
  readonly calendar_id: string;
  readonly stream_version: number;
  readonly name: string;
  readonly periods: readonly CalendarPeriod[];
  readonly covered_until: Date;
  readonly updated_at: Date;
}

export const calendarColumns: Columns<CalendarsTable> = {
  calendar_id: 'uuid',
  stream_version: 'bigint',
  name: 'text',
  periods: 'jsonb',
  covered_until: 'timestamptz',
  updated_at: 'timestamptz',
};
