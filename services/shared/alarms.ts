/**
 * Detects conditions that will eventually stop the service unless an operator intervenes (docs/backup.md,
 * docs/operations.md).
 */
import type { Alarm } from '#domain/system/alarms.ts';
import { lastBackupDue } from '#domain/system/backup-schedule.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { wrongClocks } from '#infra/postgres/operations/clock-sessions.ts';
import { findRunsWithoutRuntime } from '#infra/postgres/queue/waiting-for.ts';
import { readerLags } from '#infra/postgres/readers/store-health.ts';
import { diskSpace, type DiskSpace } from '#infra/system/disk.ts';
import { backupSchedule, newestBackup } from '#projections/backups/queries.ts';
import type { ReadModels } from '#projections/projection.ts';

const minFreeBytes = 1024 ** 3;
const minFreeShare = 0.05;
const maxLagSeconds = 60;
/**
 * How long a backup may be overdue before the alarm is raised. A large backup takes time, and the scheduler may have
 * been stopped temporarily.
 */
const backupTimeoutMs = 60 * 60_000;

export interface AlarmDeps {
  readonly database: Queryable;
  readonly reads: ReadModels;
  readonly clock: Clock;
  /** The folder that contains objects and backups, or undefined if they are stored in a bucket. */
  readonly folder: string | undefined;
}

/** Returns the alarms that are currently raised. */
export async function alarmsNow(deps: AlarmDeps): Promise<readonly Alarm[]> {
  const { folder, database } = deps;
  const found = await Promise.all([
    folder === undefined ? undefined : diskSpace(folder).then(diskAlarm),
    backupAlarm(deps),
    lagAlarm(database),
    clockAlarm(database),
    labelAlarm(database),
  ]);
  return found.filter((alarm) => alarm !== undefined);
}

/** @param space the free and total disk space, or undefined if the measurement failed */
export function diskAlarm(space: DiskSpace | undefined): Alarm | undefined {
  if (space === undefined) return undefined;
  const { freeBytes, totalBytes } = space;
  if (freeBytes >= Math.min(minFreeBytes, totalBytes * minFreeShare)) return undefined;
  const free = `${(freeBytes / 1024 ** 2).toFixed(0)} MiB`;
  return {
    name: 'disk_low',
    detail: `Only ${free} of disk space is free. Delete unneeded data or shorten the retention (/system/retention).`,
  };
}

async function backupAlarm({ reads, clock }: AlarmDeps): Promise<Alarm | undefined> {
  const overdueMs = await backupOverdueMs(reads, clock.now());
  if (overdueMs === 0) return undefined;
  const hours = Math.floor(overdueMs / 3_600_000);
  return {
    name: 'backup_overdue',
    detail: `A backup is overdue by ${hours === 1 ? '1 hour' : `${hours} hours`}. Check the newest entry in the list of backups.`,
  };
}

/** Returns how long the next backup has been overdue, in milliseconds. Returns 0 if no backup is due, or if the delay
 *  is still within the tolerance. */
export async function backupOverdueMs(reads: ReadModels, now: Date): Promise<number> {
  const schedule = await backupSchedule(reads);
  if (schedule === undefined) return 0;
  const newest = await newestBackup(reads);
  const due = lastBackupDue(schedule, schedule.changed_at, now);
  if (due === undefined || (newest !== undefined && newest >= due)) return 0;
  const overdueMs = now.getTime() - due.getTime();
  return overdueMs > backupTimeoutMs ? overdueMs : 0;
}

async function lagAlarm(database: Queryable): Promise<Alarm | undefined> {
  const late = (await readerLags(database)).filter(({ seconds }) => seconds > maxLagSeconds);
  const [first] = late.toSorted((one, other) => other.seconds - one.seconds);
  if (first === undefined) return undefined;
  return {
    name: 'projection_lag',
    detail: `${first.name} is ${Math.round(first.seconds)} s behind the event log. Check for long-running transactions.`,
  };
}

async function clockAlarm(database: Queryable): Promise<Alarm | undefined> {
  const wrong = await wrongClocks(database);
  if (wrong.length === 0) return undefined;
  return {
    name: 'clock_difference',
    detail: `Clock differences: ${wrong.map((one) => `${one} the database's`).join(', ')}. Affected processes do no background work. Synchronize the clocks of their machines or of the database server.`,
  };
}

async function labelAlarm(database: Queryable): Promise<Alarm | undefined> {
  const found = await findRunsWithoutRuntime(database);
  if (found === undefined) return undefined;
  const { runs, label } = found;
  return {
    name: 'label_missing',
    detail: `${runs === 1 ? '1 queued run requires' : `${runs} queued runs require`} a runtime with the label ${label}, and no live runtime has it. Start a runtime with ORCH_RUNTIME_LABELS=${label.replaceAll(', ', ',')}, or change the runtime labels of the script.`,
  };
}
