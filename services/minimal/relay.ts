/** Relays a service's output. All output goes to the service's log file. Messages for the user also go to the
 *  terminal. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LogFile } from '#infra/system/log-file.ts';

const SHOWN_LEVELS = new Set(['warn', 'error', 'fatal']);
/** Limits the number of messages per service, so that repeated failures of one service do not hide other messages. */
const SHOWN_PER_PERIOD = 5;
const PERIOD_MS = 10_000;

export interface Relay {
  /** Relays a stream line by line until it ends. */
  attach(stream: Readable): void;
  /** Returns the latest user-facing messages, which may explain why the service exited. */
  last(): readonly string[];
}

/** @param say prints a line
 *  @param nowMs reads a monotonic clock */
export function createRelay(
  name: string,
  file: LogFile,
  say: (line: string) => void,
  nowMs: () => number = () => performance.now(),
): Relay {
  let periodStartMs = Number.NEGATIVE_INFINITY;
  let shown = 0;
  const recent: string[] = [];

  const show = (text: string): void => {
    recent.push(text);
    if (recent.length > SHOWN_PER_PERIOD) recent.shift();
    if (nowMs() - periodStartMs > PERIOD_MS) {
      periodStartMs = nowMs();
      shown = 0;
    }
    shown += 1;
    if (shown <= SHOWN_PER_PERIOD) say(`${name}: ${text}`);
    if (shown === SHOWN_PER_PERIOD + 1) say(`${name}: and more, see its log`);
  };

  return {
    attach(stream) {
      createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
        file.write(line);
        const text = shownText(line);
        if (text !== undefined) show(text);
      });
    },
    last: () => recent,
  };
}

/** Returns the user-facing part of a log line, or undefined if the line is written only to the file. */
export function shownText(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() === '' ? undefined : line.slice(0, 300);
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line.slice(0, 300);
  }
  if (!SHOWN_LEVELS.has(String(entry['level']))) return undefined;
  const { message, error, problems, problem } = entry;
  const cause = (error as { message?: unknown } | undefined)?.message ?? problem;
  const details = Array.isArray(problems) ? problems : cause === undefined ? [] : [cause];
  return [String(message), ...details.map(String)].join(': ').slice(0, 1000);
}
