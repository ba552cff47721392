import type { CalendarId } from '#domain/kernel/ids.ts';
import type { CalendarContent } from './calendar.ts';
import type { CalendarCreated, CalendarDeleted } from './events.ts';

export type CreateCalendar = CalendarCreated['data'] & { readonly type: 'CreateCalendar' };

export interface ChangeCalendar {
  readonly type: 'ChangeCalendar';
  readonly calendarId: CalendarId;
  /** If absent, the name is unchanged. */
  readonly name?: string;
  /** If absent, the content is unchanged. */
  readonly content?: CalendarContent;
}

export type DeleteCalendar = CalendarDeleted['data'] & { readonly type: 'DeleteCalendar' };

export type CalendarCommand = CreateCalendar | ChangeCalendar | DeleteCalendar;
