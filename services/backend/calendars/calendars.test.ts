/** Exception calendars over HTTP, with the schedules that use them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calendarText } from '../testing/calendar-text.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const calendars = '/api/v1/calendars';
const daily = { kind: 'cron', cron: '0 9 * * *', timezone: 'Europe/Berlin' };

let platform: TestBackend;
let calendarId: string;
let scheduleId: string;
beforeAll(async () => {
  platform = await startTestBackend();
  const { admin } = platform;
  calendarId = (await admin.post(calendars, { name: 'Holidays', content: calendarText })).json.id;
  const script = await admin.post('/api/v1/scripts', { name: 'Report' });
  const schedule = await admin.post('/api/v1/schedules', {
    script_id: script.json.id,
    ...daily,
    calendar_id: calendarId,
  });
  expect(schedule.json.calendar_id).toBe(calendarId);
  scheduleId = schedule.json.id;
});
afterAll(() => platform.close());

test('a calendar lists the dates of its events', async () => {
  const { json } = await platform.admin.get(`${calendars}/${calendarId}`);
  const year = new Date().getUTCFullYear() + 1;
  expect(json.periods).toContainEqual({
    summary: 'Christmas',
    from: `${year}-12-25T00:00:00`,
    to: `${year}-12-27T00:00:00`,
  });
});

test('a preview shows the events of a calendar text and stores nothing', async () => {
  const { json } = await platform.admin.post(`${calendars}/preview`, { content: calendarText });
  const stored = (await platform.admin.get(`${calendars}/${calendarId}`)).json;
  expect(json.periods).toEqual(stored.periods);
  expect((await platform.admin.get(calendars)).json.items).toHaveLength(1);
  const refused = await platform.admin.post(`${calendars}/preview`, { content: 'holidays' });
  expect(refused).toMatchObject({ status: 422, json: { errors: [{ pointer: '/content' }] } });
});

test('the preview of a schedule marks the due times that a calendar skips', async () => {
  const year = new Date().getUTCFullYear() + 1;
  const asked = { ...daily, calendar_id: calendarId, from: `${year}-12-24T00:00:00Z`, count: 4 };
  const { json } = await platform.admin.post('/api/v1/schedules/preview', asked);
  expect(json.items.map((item: { skipped: string | null }) => item.skipped)).toEqual([
    null,
    'Christmas',
    'Christmas',
    null,
  ]);
});

test('a backfill omits the due times that a calendar skips', async () => {
  const range = { from: '2025-12-24T00:00:00Z', to: '2025-12-28T00:00:00Z', dry_run: true };
  const { json } = await platform.admin.post(`/api/v1/schedules/${scheduleId}/backfill`, range);
  expect(json.items.map((item: { due_at: string }) => item.due_at.slice(0, 10))).toEqual([
    '2025-12-24',
    '2025-12-27',
  ]);
});

test.each([
  ['text that is not iCalendar', 'holidays', 'not valid iCalendar text'],
  ['an impossible date', calendarText.replaceAll('20251225', '20250231'), '2025-02-31'],
  [
    'an unknown time zone',
    calendarText.replace(
      'DTSTART;VALUE=DATE:20251225',
      'DTSTART;TZID=Mars/Olympus:20251225T000000',
    ),
    'Mars/Olympus',
  ],
])('a calendar with %s is refused with the reason', async (_case, content, reason) => {
  const response = await platform.admin.post(calendars, { name: 'Holidays', content });
  expect(response).toMatchObject({ status: 422, json: { errors: [{ pointer: '/content' }] } });
  expect(response.json.errors[0].detail).toContain(reason);
});

test('a calendar is unchanged after an export and import of the configuration', async () => {
  const { json: document } = await platform.admin.get('/api/v1/system/config');
  expect(document.calendars).toMatchObject([{ id: calendarId, name: 'Holidays' }]);
  expect(document.schedules).toMatchObject([{ calendar_id: calendarId }]);
  const imported = await platform.admin.post('/api/v1/system/config', document);
  expect(imported.json.counts).toMatchObject({ create: 0, change: 0, delete: 0 });
});

test('a calendar cannot be deleted while schedules use it', async () => {
  const path = `${calendars}/${calendarId}`;
  expect(await platform.admin.delete(path)).toMatchObject({
    status: 409,
    json: { code: 'calendar_in_use' },
  });
  const schedule = `/api/v1/schedules/${scheduleId}`;
  const freed = await platform.admin.patch(schedule, { calendar_id: null });
  expect(freed.json.calendar_id).toBeNull();
  expect((await platform.admin.delete(path)).status).toBe(204);
});
