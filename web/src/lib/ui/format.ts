const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
let look: TimeLook = {};
let formats = formatsOf(look);

/** The time format preferences. The defaults are the computer's time zone and a 24-hour clock. */
interface TimeLook {
  /** The IANA name of the time zone. */
  timeZone?: string | undefined;
  hour12?: boolean;
}

/** Sets the format of all times. An unknown time zone is ignored. */
export function setTimeLook(wanted: TimeLook): void {
  look = isZone(wanted.timeZone) ? wanted : { ...wanted, timeZone: undefined };
  formats = formatsOf(look);
}

/** Whether a time zone exists. An undefined name stands for the computer's time zone, which always exists. */
export function isZone(name: string | undefined): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function formatsOf(options: TimeLook) {
  const format = (parts: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, ...parts });
  return {
    dateTime: format({ dateStyle: 'medium', timeStyle: 'medium' }),
    timeOnly: format({ hour: '2-digit', minute: '2-digit' }),
    dayOnly: format({ day: 'numeric', month: 'short' }),
    clock: format({
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
    }),
  };
}

/** Formats a relative time, such as "2 minutes ago" or "in 3 hours", rounded to the nearest unit. Differences under a
 *  minute become "just now" or "in a moment". */
export function relativeTime(time: string, nowMs: number): string {
  const seconds = (Date.parse(time) - nowMs) / 1000;
  if (Math.abs(seconds) < 60) return seconds > 0 ? 'in a moment' : 'just now';
  const inUnit = (size: number) => Math.sign(seconds) * Math.round(Math.abs(seconds) / size);
  const [minutes, hours] = [inUnit(60), inUnit(3600)];
  if (Math.abs(minutes) < 60) return relative.format(minutes, 'minute');
  if (Math.abs(hours) < 24) return relative.format(hours, 'hour');
  return relative.format(inUnit(86_400), 'day');
}

/** Formats a time in the user's time zone. */
export function localTime(time: string): string {
  return formats.dateTime.format(new Date(time));
}

/** Formats a time range with minute precision, such as "21 Nov, 14:00 to 15:30". If both times are on the same day, the
 *  day appears once. */
export function shortRange(from: string, to: string): string {
  const [begin, end] = [new Date(from), new Date(to)];
  const day = formats.dayOnly.format(end);
  const isSameDay = formats.dayOnly.format(begin) === day;
  const until = `${isSameDay ? '' : `${day}, `}${formats.timeOnly.format(end)}`;
  return `${formats.dayOnly.format(begin)}, ${formats.timeOnly.format(begin)} to ${until}`;
}

/** Returns the UTC offset of the user's time zone at a point in time. */
export function offsetMs(ms: number): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: ownZone(),
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(ms);
  const part = (name: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find(({ type }) => type === name)?.value);
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const wall = Date.UTC(year, month - 1, day, part('hour'), part('minute'), part('second'));
  return wall - Math.floor(ms / 1000) * 1000;
}

/** Formats a time as the value of `<input type="datetime-local">` in the user's time zone. Returns an empty text for
 *  null. */
export function localInput(time: string | null): string {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? '' : new Date(ms + offsetMs(ms)).toISOString().slice(0, 19);
}

/** Converts the value of a `datetime-local` field to ISO 8601, or returns null if the value is incomplete. For a time
 *  that occurs twice because of a clock change, returns the first occurrence. A skipped time moves forward. */
export function inputTime(text: string): string | null {
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return null;
  const dayMs = 86_400_000;
  const [before, after] = [offsetMs(wall - dayMs), offsetMs(wall + dayMs)];
  const isAfter = offsetMs(wall - before) !== before && offsetMs(wall - after) === after;
  return new Date(wall - (isAfter ? after : before)).toISOString();
}

/** Formats a time in another time zone, such as "Mon 23 Nov, 02:30:00". Adds the year if it is not the current year. */
export function zonedTime(time: string, timeZone: string, nowMs = Date.now()): string {
  const date = new Date(time);
  const isOtherYear = date.getUTCFullYear() !== new Date(nowMs).getUTCFullYear();
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(isOtherYear && { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: look.hour12 ?? false,
    timeZone,
  }).format(date);
}

/** Returns the user's time zone, such as "Europe/Berlin". */
export function ownZone(): string {
  return look.timeZone ?? machineZone();
}

export function machineZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Formats the time of day, such as "14:03", or the day, such as "21 Nov". */
export function dayTime(ms: number, byDay: boolean): string {
  return (byDay ? formats.dayOnly : formats.timeOnly).format(ms);
}

/** Formats the time of a log line in the user's time zone, such as "14:03:07.123". */
export function clockTime(time: string): string {
  return formats.clock.format(new Date(time));
}

/** Formats the time of a log line relative to the start of the run, such as "+12.345 s" or "+1:02:03.456". */
export function elapsedTime(time: string, sinceMs: number): string {
  const ms = Math.max(0, Date.parse(time) - sinceMs);
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const seconds = ((ms % 60_000) / 1000).toFixed(3);
  if (hours === 0 && minutes === 0) return `+${seconds} s`;
  const padded = [minutes.toString().padStart(hours > 0 ? 2 : 1, '0'), seconds.padStart(6, '0')];
  return `+${[...(hours > 0 ? [hours] : []), ...padded].join(':')}`;
}

/** Formats a duration, such as "420 ms", "3.2 s", "4 m 07 s" or "2 h 05 m". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const padded = (value: number) => String(value).padStart(2, '0');
  if (minutes < 60) return `${minutes} m ${padded(Math.floor((ms % 60_000) / 1000))} s`;
  return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} m`;
}

/** Formats a size, such as "12.4 MiB". */
export function byteSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Formats a count with its noun, such as "1 run" or "12 runs". */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}
