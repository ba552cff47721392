/** Converts local times to instants. A local time is represented by the milliseconds that it would have in UTC. */

const dayMs = 86_400_000;

export interface Zone {
  /** Returns the UTC offset of the zone at an instant. */
  readonly offsetMs: (atMs: number) => number;
}

/** The instants at which a local time occurs, earliest first, and the size of a clock change near them. */
export interface LocalInstants {
  readonly instants: readonly number[];
  readonly movedMs: number;
}

const zones = new Map<string, Zone>();
/** Clocks change only at multiples of 15 minutes. */
const slotMs = 900_000;
const slotsKept = 1_000;

/** Finds a zone by its IANA name, ignoring case. Returns `undefined` if the zone does not exist. */
export function zoneOf(name: string): Zone | undefined {
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known !== undefined) return known;
  const zone = openZone(name);
  if (zone !== undefined) zones.set(key, zone);
  return zone;
}

function openZone(name: string): Zone | undefined {
  // An offset, such as +01:00, is not a zone.
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    return { offsetMs: remembering((atMs) => offsetIn(format.format(atMs))) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Caches offsets, because formatting a date is slow and the same few times are requested repeatedly. */
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

/** Parses the offset at the end of text such as `11/1/2026, GMT-05:00`. */
function offsetIn(text: string): number {
  const [, sign, hours, minutes, seconds = '0'] =
    /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** Returns the instant of a local time, or both instants if the local time occurs twice. When the clocks go forward,
 *  a skipped local time moves forward by the size of the clock change (RFC 5545). For example, 02:30 becomes 03:30. */
export function instantsOf(zone: Zone, localMs: number): LocalInstants {
  const before = zone.offsetMs(localMs - dayMs);
  const after = zone.offsetMs(localMs + dayMs);
  if (before === after) return { instants: [localMs - before], movedMs: 0 };
  const movedMs = Math.abs(after - before);
  const instants = [before, after]
    .map((offset) => ({ at: localMs - offset, offset }))
    .filter(({ at, offset }) => zone.offsetMs(at) === offset)
    .map(({ at }) => at)
    .toSorted((one, other) => one - other);
  return instants.length === 0
    ? { instants: [localMs - before], movedMs }
    : { instants, movedMs: instants.length === 2 ? movedMs : 0 };
}

/** Returns by how much local time may go back after `atMs`. The result is 0 except near a clock change. */
export function lookBackMs(zone: Zone, atMs: number): number {
  const movedMs = Math.abs(zone.offsetMs(atMs - dayMs) - zone.offsetMs(atMs + dayMs));
  const here = zone.offsetMs(atMs);
  const isNear =
    movedMs > 0 &&
    (zone.offsetMs(atMs - movedMs) !== here || zone.offsetMs(atMs + movedMs) !== here);
  return isNear ? movedMs : 0;
}
