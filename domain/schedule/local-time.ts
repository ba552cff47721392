/** Due times as people in a zone see them. */
import { momentsOf, type Zone } from './zone.ts';

const dayMs = 86_400_000;

/** A moment as a clock of the zone shows it, such as `2026-03-29T03:30:00+02:00`. */
export function localText(zone: Zone, at: Date): string {
  const offsetMs = zone.offsetMs(at.getTime());
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const sign = offsetMs < 0 ? '-' : '+';
  const part = (number: number) => String(number).padStart(2, '0');
  const local = new Date(at.getTime() + offsetMs).toISOString().slice(0, 19);
  return `${local}${sign}${part(Math.floor(minutes / 60))}:${part(minutes % 60)}`;
}

/** What there is to know of a moment on a day whose clocks are moved; `undefined` on every other. */
export function clockNote(zone: Zone, at: Date): string | undefined {
  const localMs = at.getTime() + zone.offsetMs(at.getTime());
  const midnightMs = Math.floor(localMs / dayMs) * dayMs;
  // Just before midnight: where the clocks go forward then, it is the new day that lacks the hour.
  const offsets = [midnightMs, midnightMs + dayMs].map((local) =>
    zone.offsetMs((momentsOf(zone, local).moments.at(0) ?? local) - 1),
  );
  const [before = 0, after = 0] = offsets;
  const minutes = Math.abs(after - before) / 60_000;
  if (minutes === 0) return undefined;
  return after > before
    ? `DST: clocks go forward by ${minutes} minutes on this day. Nonexistent times run ${minutes} minutes later.`
    : `DST: clocks go back by ${minutes} minutes on this day. Repeated times run once, except for "every n" expressions.`;
}
