/** Reads calendars that users provide. A separate thread with limits parses each text, because recurrence rules can be
 *  crafted to run indefinitely. */
import type { CalendarContent } from '#domain/calendar/calendar.ts';
import { Worker } from 'node:worker_threads';
import { CalendarError } from './calendar-error.ts';

/** Maximum size of a calendar text in UTF-8. */
export const maxCalendarBytes = 512 * 1024;
const timeoutMs = 5_000;
const maxMemoryMb = 256;

/** Expands the occurrences from `from` (inclusive) to `until` (exclusive).
 *  @throws CalendarError with a sentence for the user */
export async function readCalendar(
  text: string,
  from: Date,
  until: Date,
): Promise<CalendarContent> {
  if (Buffer.byteLength(text) > maxCalendarBytes) {
    throw new CalendarError(`The calendar exceeds ${maxCalendarBytes / 1024} KiB.`);
  }
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: { text, from, until },
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
  worker.once('message', resolve);
  worker.once('error', () => resolve(undefined));
  worker.once('exit', () => resolve(undefined));
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  const answer = await promise;
  clearTimeout(timer);
  await worker.terminate();
  if (answer === undefined) throw new CalendarError('The calendar takes too long to expand.');
  if ('detail' in answer) throw new CalendarError(answer.detail);
  return answer.content;
}

type Answer = { readonly content: CalendarContent } | { readonly detail: string };
