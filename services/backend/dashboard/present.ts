/** The current state of scripts and runs, and the due times of the next day. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GroupId } from '#domain/kernel/ids.ts';
import { dueCounts, type CountedSchedule } from '#domain/schedule/due-counts.ts';
import { dueAfter } from '#domain/schedule/due-times.ts';
import type { ReadModels } from '#projections/projection.ts';
import { listRuns } from '#projections/runs/lists.ts';
import { readDurationStats } from '#projections/runs/duration-stats.ts';
import { comingSchedules, type ComingSchedule } from '#projections/schedules/coming.ts';
import { failingScripts } from '#projections/scripts/failing.ts';

/** The groups to include; `null` for all. */
type Groups = readonly GroupId[] | null;

/** The first page shows at most this many failing scripts, running runs and due times. */
export const shown = 6;
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Maximum number of schedules whose due times are counted. */
const maxSchedules = 1000;
/** Maximum number of due times computed from cron expressions. Each computation takes about 0.1 ms. */
const maxCronTimes = 1500;
const latest = new Date(8.64e15);

/** Failing scripts, running runs and next due times, at most `limit` of each. */
export async function readNow(readModels: ReadModels, groupIds: Groups, limit: number) {
  const [failing, runs, due] = await Promise.all([
    failingScripts(readModels, groupIds, limit),
    listRuns(readModels, { groupIds, statuses: ['running'] }, undefined, limit),
    comingSchedules(readModels, groupIds, latest, limit),
  ]);
  const usual = await readDurationStats(
    readModels,
    runs.map((run) => run.script_id),
  );
  return {
    failing_total: failing.total,
    failing: failing.items,
    running: runs.map(({ run_id, script_id, script_name, started_at }) => ({
      run_id,
      script_id,
      script_name,
      started_at,
      usual: usual.get(script_id) ?? null,
    })),
    due: due.map(({ schedule_id, script_id, script_name, next_fire_at: due_at }) => {
      return { schedule_id, script_id, script_name, due_at };
    }),
  };
}

/** The number of due times in each hour of the 24 hours after `from`. */
export async function countFires(readModels: ReadModels, groupIds: Groups, from: Date) {
  const to = new Date(from.getTime() + dayMs);
  const coming = await comingSchedules(readModels, groupIds, to, maxSchedules);
  const known = coming.length < maxSchedules ? to : (coming.at(-1)?.next_fire_at ?? to);
  const ends = hoursUntil(from, to).filter((end) => end <= known);
  const schedules = coming.flatMap((schedule) => countedFrom(from, schedule));
  const hours: { begins_at: Date; due: number }[] = [];
  let begins = from;
  for (const due of dueCounts(schedules, ends, maxCronTimes)) {
    hours.push({ begins_at: begins, due });
    begins = ends[hours.length - 1] ?? to;
    // Lets other requests proceed after each counted hour.
    await nextTurn();
  }
  return { from, to, counted_until: begins, hours };
}

/** The first due time to count. Earlier due times are not counted. */
function countedFrom(
  from: Date,
  { definition, created_at: createdAt, next_fire_at: next }: ComingSchedule,
): readonly CountedSchedule[] {
  const nextAt =
    next >= from ? next : dueAfter(definition, createdAt, new Date(from.getTime() - 1));
  return nextAt === undefined ? [] : [{ definition, createdAt, nextAt }];
}

/** The end of each full UTC hour in the range, followed by the end of the range. */
function hoursUntil(from: Date, to: Date): readonly Date[] {
  const ends: Date[] = [];
  const first = (Math.floor(from.getTime() / hourMs) + 1) * hourMs;
  for (let end = first; end < to.getTime(); end += hourMs) ends.push(new Date(end));
  return [...ends, to];
}
