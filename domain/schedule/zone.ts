/** Time zones: which moments a local time is. Local times are written as the milliseconds that they
 *  would have in UTC. */

const dayMs = 86_400_000;

export interface Zone {
  /** What a clock of the zone shows at a moment, less what one in UTC shows. */
  readonly offsetMs: (atMs: number) => number;
}

/** What becomes of a local time: the moments that it is, earliest first, and how long the clocks were
 *  moved around it. */
export interface LocalMoments {
  readonly moments: readonly number[];
  readonly movedMs: number;
}

const zones = new Map<string, Zone>();
/** Clocks are moved at a whole quarter of an hour. */
const slotMs = 900_000;
const slotsKept = 1_000;

/** A zone by its name in the IANA database, in any case; `undefined` when there is none. */
export function zoneOf(name: string): Zone | undefined {
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known !== undefined) return known;
  const zone = openZone(name);
  if (zone !== undefined) zones.set(key, zone);
  return zone;
}

function openZone(name: string): Zone | undefined {
  // An offset such as +01:00 is no zone.
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    return { offsetMs: remembering((atMs) => offsetIn(format.format(atMs))) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Formatting a date takes long, and the same few moments are asked for again and again. */
function remembering(offsetMs: Zone['offsetMs']): Zone['offsetMs'] {
  const known = new Map<number, number>();
  return (atMs) => {
    const slot = Math.floor(atMs / slotMs);
    const present = known.get(slot);
    if (present !== undefined) return present;
    const offset = offsetMs(slot * slotMs);
    if (known.size === slotsKept) known.clear();
    known.set(slot, offset);
    return offset;
  };
}

/** Reads the end of `11/1/2026, GMT-05:00`. */
function offsetIn(text: string): number {
  const [, sign, hours, minutes, seconds = '0'] =
    /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** The moments of a local time: one, two when it occurs twice, and where it does not exist the one that
 *  is later by the length of the gap (RFC 5545: 02:30 becomes 03:30). */
export function momentsOf(zone: Zone, localMs: number): LocalMoments {
  const before = zone.offsetMs(localMs - dayMs);
  const after = zone.offsetMs(localMs + dayMs);
  if (before === after) return { moments: [localMs - before], movedMs: 0 };
  const movedMs = Math.abs(after - before);
  const moments = [before, after]
    .map((offset) => ({ at: localMs - offset, offset }))
    .filter(({ at, offset }) => zone.offsetMs(at) === offset)
    .map(({ at }) => at)
    .toSorted((one, other) => one - other);
  return moments.length === 0
    ? { moments: [localMs - before], movedMs }
    : { moments, movedMs: moments.length === 2 ? movedMs : 0 };
}

/** How far back among the local times the next moment after `atMs` may be named: the clocks were just
 *  put forward, or are about to be put back. */
export function lookBackMs(zone: Zone, atMs: number): number {
  const movedMs = Math.abs(zone.offsetMs(atMs - dayMs) - zone.offsetMs(atMs + dayMs));
  const here = zone.offsetMs(atMs);
  const isNear =
    movedMs > 0 &&
    (zone.offsetMs(atMs - movedMs) !== here || zone.offsetMs(atMs + movedMs) !== here);
  return isNear ? movedMs : 0;
}
