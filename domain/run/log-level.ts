/** Detects the level of a log line from the formats of common logging libraries. Pure. A wrong level is worse than
 *  none, so text that merely contains the name of a level has no level. */
import type { LogLevel } from '#domain/ports/run-logs.ts';

/** The number of characters of a line that are searched for a level. Log formats put the level near the start of a
 *  line. */
const MAX_HEAD_LENGTH = 240;
/** The maximum length of a JSON record. Longer records are not parsed. */
const MAX_JSON_LENGTH = 16 * 1024;

const names: Readonly<Record<string, LogLevel>> = {
  trace: 'debug',
  debug: 'debug',
  dbg: 'debug',
  info: 'info',
  information: 'info',
  notice: 'info',
  success: 'info',
  warn: 'warning',
  warning: 'warning',
  err: 'error',
  error: 'error',
  crit: 'critical',
  critical: 'critical',
  fatal: 'critical',
  panic: 'critical',
  alert: 'critical',
  emergency: 'critical',
};

const WORD = 'TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|WARNING|ERROR|CRITICAL|FATAL';
const DATE = String.raw`\d{2,4}[-/]\d\d[-/]\d{2,4}`;
const CLOCK = String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?`;
const ZONE = String.raw`(?:Z| ?[+-]\d\d:?\d\d| UTC)?`;
const TIME = `(?:${DATE}[T ])?${CLOCK}${ZONE}`;
/** A name or a bracketed value between the time and the level, such as a thread name. */
const BETWEEN = String.raw`(?:\[[^\]]{1,80}\] +|\([^)]{1,80}\) +|\{[^}]{1,80}\} +|[\w.:-]{1,80} [-|] +)`;

/** Patterns for lines that start with a letter or a space. */
const wordPatterns: readonly RegExp[] = [
  // WARNING:root:text, INFO: text, ERROR: text. Excludes counts, such as ERROR: 0.
  new RegExp(`^(${WORD}):(?!\\s*[\\d.]+%?\\s*$)`),
  // ERROR - text, INFO | text
  new RegExp(`^(${WORD}) +[-|] `),
  // Rich, and Python's %(levelname)-8s, which pads the level to eight characters. Rich replaces a repeated time with
  // spaces.
  /^(?: {9,})?(INFO(?= {5})|DEBUG(?= {4})|ERROR(?= {4})|WARNING(?= {2})|(?<= {9})CRITICAL(?= ))/,
  // ERROR 2026-01-01 12:00:00,123 text; name - ERROR - text
  new RegExp(`^(${WORD}) +\\[?${DATE}[T ]${CLOCK}`),
  new RegExp(`^[\\w.]{1,80} - (${WORD}) - `),
  // INFO  [name] text
  new RegExp(`^(${WORD}) +\\[[\\w.]{1,80}\\] `),
  // main.py: error: text, as written by command-line parsers
  /^[\w./-]{1,80}: (error): /,
  // level=info msg=text, time=… level=warning msg=text, msg="text" level=error
  /^(?:[\w.@-]{1,40}=(?:"[^"]*"|'[^']*'|[^\s"']*) ){0,5}(?:level|lvl)=['"]?(\w{3,11})(?=['"]?(?: |$))/,
];
/** Patterns for lines that start with a digit or a bracket. */
const timePatterns: readonly RegExp[] = [
  // 2026-01-01 12:00:00,123 - name - ERROR - text; 12:00:00.123 | INFO | text; [12:00:00] INFO text
  new RegExp(`^[[(]?${TIME}[\\])]?:?(?: +[-|])? +${BETWEEN}{0,3}(${WORD})(?=[\\s:|\\]-]|$)`),
  // 2026-01-01 12:00:00,123 name ERROR text. The comma shows that Python's logging module wrote the time.
  new RegExp(`^${DATE} \\d\\d:\\d\\d:\\d\\d,\\d{3} [\\w.]{1,80} +(${WORD})(?=:? )`),
  // [INFO] text, [warning  ] text
  new RegExp(`^\\[(${WORD}) *\\][: -]`, 'i'),
  // 2026-01-01 12:00:00 [info     ] text; [2026-01-01 12:00:00 +0000] [123] [INFO] text
  new RegExp(`^[[(]?${TIME}[\\])]? +${BETWEEN}{0,2}?\\[(${WORD}) *\\]`, 'i'),
  // [ERROR/Process-1] text
  new RegExp(`^\\[(${WORD})/[^\\]]{1,80}\\] `),
  // [2026-01-01 12:00:00,123: INFO/MainProcess] text
  new RegExp(`^\\[${TIME}: (${WORD})/`),
];

const glog = /^([D-FIW])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] /;
const glogLevels: Readonly<Record<string, LogLevel>> = {
  D: 'debug',
  I: 'info',
  W: 'warning',
  E: 'error',
  F: 'critical',
};
const pythonWarning = /^\S[^:]*:\d+: [A-Z]\w*Warning: /;
const traceback = /^ *(?:\+ Exception Group )?Traceback \(most recent call last\):$/;
/** Matches the first line of Python's report about a main file that cannot be compiled. */
const notCompiled = /^ {2}File ".+", line \d+$/;
/** Matches the line between the tracebacks of chained exceptions. */
const chained =
  /^(?:The above exception was the direct cause of|During handling of the above exception, another exception)/;
/** A fast check that most lines without a level fail. Lines in all supported text formats match near their start. */
const anyHint =
  /TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|ERROR|CRITICAL|FATAL|Warning: |: error: |(?:level|lvl)=|\[[A-Za-z]{4,8} *\]|^[D-FIW]\d{4} /;
// eslint-disable-next-line no-control-regex -- terminal colors begin with ESC
const colours = /\u001b\[[\d;]*m/g;

/** Returns the level of a line. A traceback always has the level `error`, even after a record of a lower level. The
 *  script may have printed that record just before an uncaught exception.
 *  @param previous level of the previous line on the same stream */
export function levelOf(text: string, previous: LogLevel | null): LogLevel | null {
  if (!traceback.test(text)) return levelOfRecord(text);
  return previous === 'critical' ? 'critical' : 'error';
}

/** Returns the level of a line that begins a record of a logging library. Returns null for other lines, including
 *  tracebacks. */
export function levelOfRecord(text: string): LogLevel | null {
  const first = text.charCodeAt(0);
  if (first === 0x7b) return text.endsWith('}') ? levelOfJson(text) : null;
  const start = text.length > MAX_HEAD_LENGTH ? text.slice(0, MAX_HEAD_LENGTH) : text;
  const head = start.includes('\u001b') ? start.replace(colours, '') : start;
  if (!anyHint.test(head)) return null;
  const patterns = /^[\d[(]/.test(head) ? timePatterns : wordPatterns;
  for (const pattern of patterns) {
    const word = pattern.exec(head)?.[1];
    if (word !== undefined) return named(word);
  }
  const letter = glog.exec(head)?.[1];
  if (letter !== undefined) return glogLevels[letter] ?? null;
  return pythonWarning.test(head) ? 'warning' : null;
}

function named(word: string): LogLevel | null {
  const name = word.toLowerCase();
  return Object.hasOwn(names, name) ? (names[name] ?? null) : null;
}

const jsonHint = /"(?:level|levelname|levelno|level_number|severity|lvl|log\.level|record)"/;

type Fields = Readonly<Record<string, unknown>>;

function levelOfJson(text: string): LogLevel | null {
  if (text.length > MAX_JSON_LENGTH || !jsonHint.test(text)) return null;
  let record: Fields;
  try {
    record = JSON.parse(text) as Fields;
  } catch {
    return null;
  }
  // Without a message, JSON with a level is not a log record.
  if (!['message', 'msg', 'event', 'text', '@message'].some((key) => key in record)) return null;
  const { level, levelname, severity, lvl, record: loguru } = record;
  const candidates = [level, levelname, severity, lvl, record['log.level'], loguruLevel(loguru)];
  const word = candidates.find((value) => typeof value === 'string');
  if (typeof word === 'string') return named(word);
  const { levelno, level_number: levelNumber, time } = record;
  // Pino and bunyan write the time in milliseconds. Their numeric levels are higher by ten than Python's.
  const isPino = typeof level === 'number' && typeof time === 'number' && time > 1e11;
  return numbered(isPino ? Math.max(10, level - 10) : (levelno ?? levelNumber ?? level ?? lvl));
}

function loguruLevel(record: unknown): unknown {
  const level = fieldOf(record, 'level');
  return fieldOf(level, 'name');
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Fields)[key] : undefined;
}

/** The numeric levels of Python's logging module. */
const byNumber: ReadonlyMap<unknown, LogLevel> = new Map([
  [10, 'debug'],
  [20, 'info'],
  [30, 'warning'],
  [40, 'error'],
  [50, 'critical'],
]);

function numbered(value: unknown): LogLevel | null {
  return byNumber.get(value) ?? null;
}

/** The parser state of one stream. */
interface StreamState {
  /** The level of the previous line. Null if a traceback after that line would not belong to its record. */
  level: LogLevel | null;
  /** The level of the last record or traceback. Reset when unrelated text follows. */
  record: LogLevel | null;
  /** The number of lines since the last record or traceback. */
  further: number;
  /** `frames` before the line with the exception type of a traceback, `named` after that line, and null outside a
   *  traceback. */
  traceback: 'frames' | 'named' | null;
  /** The level of all lines of the current traceback. */
  tracebackLevel: LogLevel | null;
}

/** The maximum number of continuation lines of a record. */
const MAX_FURTHER_LINES = 50;

/** Detects the levels of a log, line by line. All lines of a traceback have the level of its first line.
 *  Continuation lines of a record have the record's level. On stdout, only indented lines are continuation lines,
 *  because other text is output of the script. */
export class LogLevels {
  readonly #streams = new Map<string, StreamState>();

  /** Returns the level of the next line. Lines from the platform have no level. */
  next(stream: 'stdout' | 'stderr' | 'system', text: string): LogLevel | null {
    if (stream === 'system') return null;
    let state = this.#streams.get(stream);
    if (state === undefined) {
      state = { level: null, record: null, further: 0, traceback: null, tracebackLevel: null };
      this.#streams.set(stream, state);
    }
    const level = state.traceback === null ? undefined : levelInTraceback(state, text);
    state.level = level === undefined ? levelOutside(state, text) : level;
    if (state.level === null) return levelOfFurther(state, text, stream === 'stderr');
    state.record = state.level;
    state.further = 0;
    return state.level;
  }
}

/** Returns the level of a line that contains no level. */
function levelOfFurther(state: StreamState, text: string, isLog: boolean): LogLevel | null {
  if (text === '') return null;
  state.further += 1;
  const isIndented = /^\s/.test(text);
  if (state.further > MAX_FURTHER_LINES || !(isIndented || isLog)) state.record = null;
  // Text without indentation may be output of the script. A traceback after such text does not belong to the record.
  if (isIndented) state.level = state.record;
  return state.record;
}

/** Returns the level of a line outside a traceback, or of the first line of a traceback. */
function levelOutside(state: StreamState, text: string): LogLevel | null {
  const isCode = text.startsWith('  File "') && notCompiled.test(text);
  const level = isCode ? 'error' : levelOf(text, state.level);
  if (level !== null && (isCode || traceback.test(text))) {
    state.traceback = 'frames';
    state.tracebackLevel = level;
  }
  return level;
}

/** Returns the level of a line inside a traceback, or `undefined` if the line does not belong to the traceback. */
function levelInTraceback(state: StreamState, text: string): LogLevel | null | undefined {
  const { tracebackLevel: level } = state;
  if (state.traceback === 'frames') {
    // Frames, source code and the lines of an exception group are indented.
    if (!/^[ |+]/.test(text)) state.traceback = 'named';
    return level;
  }
  if (text === '') return null;
  if (chained.test(text) || traceback.test(text)) {
    if (traceback.test(text)) state.traceback = 'frames';
    return level;
  }
  state.traceback = null;
  return undefined;
}
