/** Events of an exception calendar, in streams `calendar-<id>`. Permanent: never rename a type or change the meaning
 *  of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { CalendarId } from '#domain/kernel/ids.ts';
import type { CalendarContent } from './calendar.ts';

export type CalendarCreated = DomainEvent<
  'CalendarCreated',
  { readonly calendarId: CalendarId; readonly name: string; readonly content: CalendarContent }
>;

/** The calendar was changed. Contains its complete new name and content. */
export type CalendarChanged = DomainEvent<'CalendarChanged', CalendarCreated['data']>;

export type CalendarDeleted = DomainEvent<'CalendarDeleted', { readonly calendarId: CalendarId }>;

export type CalendarEvent = CalendarCreated | CalendarChanged | CalendarDeleted;
