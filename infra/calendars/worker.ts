/** The worker thread of `readCalendar`. It parses one text and exits. */
import { parentPort, workerData } from 'node:worker_threads';
import { CalendarError } from './calendar-error.ts';
import { parseCalendar } from './parse.ts';

const { text, from, until } = workerData as {
  readonly text: string;
  readonly from: Date;
  readonly until: Date;
};
try {
  parentPort?.postMessage({ content: parseCalendar(text, from, until) });
} catch (error) {
  // All other errors come from values that the parser cannot handle.
  const detail =
    error instanceof CalendarError ? error.message : 'The calendar has an invalid event.';
  parentPort?.postMessage({ detail });
}
