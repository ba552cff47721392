/** The schedule of automatic backups (contract §3, "Backup"). */
import { dueAfter } from '#domain/schedule/due-times.ts';
import { definitionProblem, type ScheduleDefinition } from '#domain/schedule/schedule.ts';

export interface BackupSchedule {
  /** A cron expression. `null` disables automatic backups. */
  readonly cron: string | null;
  /** Time zone name in the IANA database. */
  readonly timezone: string;
  /** Number of scheduled backups to keep, at least 1. Older scheduled backups are deleted. */
  readonly keep: number;
}

export const noBackupSchedule: BackupSchedule = { cron: null, timezone: 'UTC', keep: 7 };

export const maxBackupsKept = 1_000;

/** Describes the problem with the backup schedule. Returns `undefined` if the schedule is valid. */
export function backupScheduleProblem(schedule: BackupSchedule): string | undefined {
  const { keep } = schedule;
  if (!Number.isInteger(keep) || keep < 1 || keep > maxBackupsKept) {
    return `The number of backups to keep must be a whole number from 1 to ${maxBackupsKept}.`;
  }
  // Validates the time zone even if automatic backups are disabled.
  return definitionProblem(definitionOf({ cron: '0 0 * * *', ...withCron(schedule) }))?.detail;
}

/** Returns the first due time after `now`, or `undefined` if automatic backups are disabled. */
export function nextBackupDue(schedule: BackupSchedule, now: Date): Date | undefined {
  const { cron } = schedule;
  return cron === null ? undefined : dueAfter(definitionOf({ ...schedule, cron }), now, now);
}

/** Returns the last due time after `since` and not after `now`, or `undefined` if there was none. Backups are not
 *  made for earlier due times. */
export function lastBackupDue(schedule: BackupSchedule, since: Date, now: Date): Date | undefined {
  const { cron } = schedule;
  if (cron === null) return undefined;
  const definition = definitionOf({ ...schedule, cron });
  // Each step searches eight times as far back as the previous step. The search after a long downtime is therefore
  // almost as fast as after a short one.
  for (let backMs = minuteMs; ; backMs *= 8) {
    const fromMs = Math.max(since.getTime(), now.getTime() - backMs);
    let found: Date | undefined;
    let next = dueAfter(definition, since, new Date(fromMs));
    while (next !== undefined && next <= now) {
      found = next;
      next = dueAfter(definition, since, next);
    }
    if (found !== undefined || fromMs === since.getTime()) return found;
  }
}

const minuteMs = 60_000;

function withCron({ cron, ...rest }: BackupSchedule) {
  return cron === null ? rest : { ...rest, cron };
}

function definitionOf({
  cron,
  timezone,
}: Pick<BackupSchedule, 'timezone'> & { readonly cron: string }): ScheduleDefinition {
  return {
    kind: 'cron',
    cron,
    intervalSeconds: null,
    timezone,
    startAt: null,
    endAt: null,
    enabled: true,
    catchUp: 'last',
    maxLatenessSeconds: 0,
    overlap: 'skip',
    paramsSha256: null,
  };
}
