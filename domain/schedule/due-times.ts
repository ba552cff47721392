/** When a schedule is due (contract §3, "Schedule"). */
import { parseCron, type Cron } from './cron.ts';
import { nextLocalTime } from './cron-search.ts';
import type { ScheduleDefinition } from './schedule.ts';
import { lookBackMs, momentsOf, zoneOf, type Zone } from './zone.ts';

/** The first due time after `after`; `undefined` when none comes, the schedule being over or off.
 *  @param createdAt what an interval without a start counts from */
export function dueAfter(
  definition: ScheduleDefinition,
  createdAt: Date,
  after: Date,
): Date | undefined {
  if (!definition.enabled) return undefined;
  const startMs = definition.startAt === null ? undefined : Date.parse(definition.startAt);
  const afterMs = Math.max(after.getTime(), (startMs ?? -Infinity) - 1);
  const dueMs =
    definition.kind === 'cron'
      ? cronAfter(definition, afterMs)
      : intervalAfter(definition.intervalSeconds, startMs, createdAt.getTime(), afterMs);
  if (dueMs === undefined) return undefined;
  const isOver = definition.endAt !== null && dueMs > Date.parse(definition.endAt);
  return isOver ? undefined : new Date(dueMs);
}

/** One that starts at a time is due then; one that does not, an interval after it was made. */
function intervalAfter(
  intervalSeconds: number,
  startMs: number | undefined,
  createdMs: number,
  afterMs: number,
): number {
  const anchorMs = startMs ?? createdMs;
  const everyMs = intervalSeconds * 1000;
  const first = startMs === undefined ? 1 : 0;
  const passed = Math.floor((afterMs - anchorMs) / everyMs) + 1;
  return anchorMs + Math.max(first, passed) * everyMs;
}

function cronAfter(
  { cron: text, timezone }: { readonly cron: string; readonly timezone: string },
  afterMs: number,
): number | undefined {
  const cron = parseCron(text);
  const zone = zoneOf(timezone);
  // Was checked when it was made; a zone may have left the database since.
  if (typeof cron === 'string' || zone === undefined) return undefined;
  return momentAfter(cron, zone, afterMs);
}

/** Around a change of the clocks, the order of local times is not that of the moments: all that may
 *  come first are compared. */
function momentAfter(cron: Cron, zone: Zone, afterMs: number): number | undefined {
  const localMs = afterMs + zone.offsetMs(afterMs) - lookBackMs(zone, afterMs);
  let best: number | undefined;
  let untilMs = Infinity;
  let local = nextLocalTime(cron, localMs);
  while (local !== undefined && local <= untilMs) {
    const { moments, movedMs } = momentsOf(zone, local);
    const fires = cron.everyN ? moments : moments.slice(0, 1);
    const next = fires.find((moment) => moment > afterMs);
    if (next !== undefined) {
      best = Math.min(best ?? Infinity, next);
      untilMs = Math.min(untilMs, local + movedMs);
    }
    local = nextLocalTime(cron, local + 1000);
  }
  return best;
}
