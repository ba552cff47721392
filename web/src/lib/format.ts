const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const timeOnly = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** "2 minutes ago", "in 3 hours"; under a minute "just now" or "in a moment". */
export function relativeTime(time: string, nowMs: number): string {
  const seconds = (Date.parse(time) - nowMs) / 1000;
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 0 ? 'in a moment' : 'just now';
}

/** A time in the reader's own zone. */
export function localTime(time: string): string {
  return dateTime.format(new Date(time));
}

/** A time as `<input type="datetime-local">` has it, in the reader's own zone; empty for none. */
export function localInput(time: string | null): string {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}

/** A time in another zone: "Mon 23 Nov, 02:30:00"; with its year where that is not the present one. */
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
    timeZone,
  }).format(date);
}

/** The reader's own zone, such as "Europe/Berlin". */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** "14:03", or "21 Nov" where the day matters more. */
export function dayTime(ms: number, byDay: boolean): string {
  return (byDay ? dayOnly : timeOnly).format(ms);
}

/** "14:03:07.123" in the reader's own zone: the time of a log line. */
export function clockTime(time: string): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** "420 ms", "3.2 s", "4 m 07 s", "2 h 05 m". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const padded = (value: number) => String(value).padStart(2, '0');
  if (minutes < 60) return `${minutes} m ${padded(Math.floor((ms % 60_000) / 1000))} s`;
  return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} m`;
}

/** "12.4 MiB". */
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
