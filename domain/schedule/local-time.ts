/** Formats due times in the local time of a time zone. */
import { instantsOf, type Zone } from './zone.ts';

const dayMs = 86_400_000;

/** Formats an instant as local time with its offset, such as `2026-03-29T03:30:00+02:00`. */
export function localText(zone: Zone, at: Date): string {
  const offsetMs = zone.offsetMs(at.getTime());
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const sign = offsetMs < 0 ? '-' : '+';
  const part = (number: number) => String(number).padStart(2, '0');
  const local = new Date(at.getTime() + offsetMs).toISOString().slice(0, 19);
  return `${local}${sign}${part(Math.floor(minutes / 60))}:${part(minutes % 60)}`;
}

/** Describes the clock change on the day of an instant. Returns `undefined` on days without a clock change. */
export function clockNote(zone: Zone, at: Date): string | undefined {
  const localMs = at.getTime() + zone.offsetMs(at.getTime());
  const midnightMs = Math.floor(localMs / dayMs) * dayMs;
  // Start just before midnight. If the clocks go forward at midnight, the skipped hour is not part of the new day.
  const offsets = [midnightMs, midnightMs + dayMs].map((local) =>
    zone.offsetMs((instantsOf(zone, local).instants.at(0) ?? local) - 1),
  );
  const [before = 0, after = 0] = offsets;
  const minutes = Math.abs(after - before) / 60_000;
  if (minutes === 0) return undefined;
  return after > before
    ? `DST: clocks go forward by ${minutes} minutes on this day. Due times in the skipped period move ${minutes} minutes later.`
    : `DST: clocks go back by ${minutes} minutes on this day. Due times that occur twice start one run, except for "every n" expressions.`;
}
