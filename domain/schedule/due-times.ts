/** Computes the due times of a schedule (contract §3, "Schedule"). */
import { parseCron, type Cron } from './cron.ts';
import { nextLocalTime } from './cron-search.ts';
import type { ScheduleDefinition } from './schedule.ts';
import { lookBackMs, instantsOf, zoneOf, type Zone } from './zone.ts';

/** Returns the first due time after `after`, or `undefined` if the schedule is disabled or has ended.
 *  @param createdAt the time from which intervals are counted if the schedule has no start date */
export function dueAfter(
  definition: ScheduleDefinition,
  createdAt: Date,
  after: Date,
): Date | undefined {
  if (!definition.enabled) return undefined;
  const startMs = definition.startAt === null ? undefined : Date.parse(definition.startAt);
  const afterMs = Math.max(after.getTime(), (startMs ?? -Infinity) - 1);
  const dueMs = dueMsAfter(definition, startMs, createdAt.getTime(), afterMs);
  if (dueMs === undefined) return undefined;
  const isOver = definition.endAt !== null && dueMs > Date.parse(definition.endAt);
  return isOver ? undefined : new Date(dueMs);
}

function dueMsAfter(
  definition: ScheduleDefinition,
  startMs: number | undefined,
  createdMs: number,
  afterMs: number,
): number | undefined {
  switch (definition.kind) {
    case 'cron':
      return cronAfter(definition, afterMs);
    case 'interval':
      return intervalAfter(definition.intervalSeconds, startMs, createdMs, afterMs);
    case 'once': {
      const onceMs = Date.parse(definition.onceAt);
      return onceMs > afterMs ? onceMs : undefined;
    }
  }
}

/** With a start date, an interval is first due on that date. Without a start date, an interval is first due one
 *  interval after the schedule was created. */
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

/** Returns the first time after `after` that matches a cron expression. Returns `undefined` if the expression is
 *  invalid or never matches again. */
export function nextCronTime(cron: string, timezone: string, after: Date): Date | undefined {
  const nextMs = cronAfter({ cron, timezone }, after.getTime());
  return nextMs === undefined ? undefined : new Date(nextMs);
}

function cronAfter(
  { cron: text, timezone }: { readonly cron: string; readonly timezone: string },
  afterMs: number,
): number | undefined {
  const cron = parseCron(text);
  const zone = zoneOf(timezone);
  // The definition was valid when it was saved, but the time zone may have been removed from the time zone database
  // since then.
  if (typeof cron === 'string' || zone === undefined) return undefined;
  return instantAfter(cron, zone, afterMs);
}

/** Around a clock change, local times and instants have different orders. All candidates are therefore compared. */
function instantAfter(cron: Cron, zone: Zone, afterMs: number): number | undefined {
  const localMs = afterMs + zone.offsetMs(afterMs) - lookBackMs(zone, afterMs);
  let best: number | undefined;
  let untilMs = Infinity;
  let local = nextLocalTime(cron, localMs);
  while (local !== undefined && local <= untilMs) {
    const { instants, movedMs } = instantsOf(zone, local);
    const fires = cron.everyN ? instants : instants.slice(0, 1);
    const next = fires.find((instant) => instant > afterMs);
    if (next !== undefined) {
      best = Math.min(best ?? Infinity, next);
      untilMs = Math.min(untilMs, local + movedMs);
    }
    local = nextLocalTime(cron, local + 1000);
  }
  return best;
}
