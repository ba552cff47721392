import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { components } from '#lib/api/schema.d.ts';

export type Calendar = components['schemas']['Calendar'];
export type CalendarPeriod = components['schemas']['CalendarPeriod'];

const largestPage = 200;

export async function listCalendars(): Promise<Calendar[]> {
  const params = { query: { limit: largestPage } };
  return (await unwrap(client.GET('/api/v1/calendars', { params }))).items;
}

/** Parses the events in iCalendar text without storing them. */
export async function previewCalendar(content: string): Promise<CalendarPeriod[]> {
  return (await unwrap(client.POST('/api/v1/calendars/preview', { body: { content } }))).periods;
}

/** @param content iCalendar text */
export async function createCalendar(name: string, content: string): Promise<void> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  await unwrap(client.POST('/api/v1/calendars', { params, body: { name, content } }));
}

/** @param content iCalendar text; an empty text keeps the current events */
export async function changeCalendar(id: string, name: string, content: string): Promise<void> {
  await unwrap(
    client.PATCH('/api/v1/calendars/{calendar_id}', {
      params: { path: { calendar_id: id } },
      body: { name, ...(content !== '' && { content }) },
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

export async function deleteCalendar(id: string): Promise<void> {
  const params = { path: { calendar_id: id } };
  await unwrap(client.DELETE('/api/v1/calendars/{calendar_id}', { params }));
}
