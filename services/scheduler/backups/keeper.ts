/** Creates, verifies, discovers and removes backups. A lock ensures that only one scheduler performs these tasks at a
 *  time. If this scheduler is interrupted, the next scheduler restarts the task. */
import type { BackupCommand } from '#domain/backup/commands.ts';
import {
  deriveTimeOrderedId,
  mustParse,
  parseBackupId,
  type BackupId,
} from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { lastBackupDue } from '#domain/system/backup-schedule.ts';
import { DamagedBackup } from '#infra/backup/damaged.ts';
import { removeBackup, readSummary, storedBackup, storedBackups } from '#infra/backup/files.ts';
import type { BackupSummary } from '#infra/backup/format.ts';
import { renewKeys } from '#infra/backup/keys.ts';
import { makeBackup } from '#infra/backup/make.ts';
import { contentOf } from '#infra/backup/record.ts';
import { migrationsFor, RestoreRefused } from '#infra/backup/schema-match.ts';
import { verifyBackup, type VerifiedBackup } from '#infra/backup/verify.ts';
import { clearWork, noteWork, withBackupLock, withUploadLock } from '#infra/backup/work.ts';
import { readMigrations } from '#infra/postgres/migrate.ts';
import type { MasterKeys } from '#infra/secrets/data-keys.ts';
import type { ReadModels } from '#projections/projection.ts';
import { allBackups, backupSchedule } from '#projections/backups/queries.ts';
import type { BackupScheduleTable, BackupsTable } from '#projections/backups/table.ts';
import type { Logger } from '#services/shared/logger.ts';
import type pg from 'pg';

/** The minimum time between progress updates. */
const progressIntervalMs = 500;
const noSupervisor = 'No supervisor runs the services. Restore the backup from the command line.';

export interface BackupKeeperDeps {
  readonly pool: pg.Pool;
  readonly reads: ReadModels;
  readonly objects: ObjectStore;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
  /** The key that encrypts backups, or undefined if backups are not encrypted. */
  readonly key: Uint8Array | undefined;
  /** The master keys. The first key is current and seals new backups. */
  readonly masterKeys: MasterKeys;
  /** The version of this program. */
  readonly version: string;
  /** The folder that contains the migrations. */
  readonly migrations: string;
  /** Passes a restore request to the supervisor, which can stop the services. Undefined if there is no supervisor. */
  readonly passRestore: ((backupId: BackupId) => void) | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export class BackupKeeper {
  readonly #deps: BackupKeeperDeps;
  readonly #tidyEveryMs: number;
  #tidyAtMs = 0;

  /** @param tidyEveryMs the interval at which stored and recorded backups are compared */
  constructor(deps: BackupKeeperDeps, tidyEveryMs: number) {
    this.#deps = deps;
    this.#tidyEveryMs = tidyEveryMs;
  }

  /** Makes the next round compare stored and recorded backups. */
  tidySoon(): void {
    this.#tidyAtMs = 0;
  }

  /** Runs one round, unless another scheduler is running one. */
  async runOnce(signal: AbortSignal): Promise<void> {
    await withBackupLock(this.#deps.pool, async () => {
      const { reads, clock } = this.#deps;
      const schedule = await backupSchedule(reads);
      const known = await allBackups(reads);
      if (schedule !== undefined) await this.#startDue(schedule, known);
      for (const row of await allBackups(reads)) {
        signal.throwIfAborted();
        if (row.status === 'running' && !row.deleted) await this.#make(row, signal);
        if (row.checking) await this.#check(row, signal);
        if (row.restoring) await this.#passRestore(row, signal);
      }
      if (schedule !== undefined) await this.#dropOld(schedule.keep);
      const now = clock.now().getTime();
      if (now - this.#tidyAtMs < this.#tidyEveryMs) return;
      if (await withUploadLock(this.#deps.pool, () => this.#tidy(signal))) this.#tidyAtMs = now;
    });
  }

  /** Starts a backup whose due time has passed. The backup ID is derived from the due time, so that several schedulers
   *  start only one backup per due time. */
  async #startDue(schedule: BackupScheduleTable, known: readonly BackupsTable[]): Promise<void> {
    const { clock, ids } = this.#deps;
    const due = lastBackupDue(schedule, schedule.changed_at, clock.now());
    if (due === undefined) return;
    const id = deriveTimeOrderedId(ids.derived('scheduled backup', due.toISOString()), due);
    if (known.some((row) => row.backup_id === id)) return;
    await this.#execute({ type: 'StartBackup', backupId: backupId(id), kind: 'scheduled' });
  }

  async #make(row: BackupsTable, signal: AbortSignal): Promise<void> {
    const { pool, objects, key, masterKeys, version, clock, logger } = this.#deps;
    const [masterKey] = masterKeys;
    const id = backupId(row.backup_id);
    const request = {
      backupId: id,
      kind: row.kind,
      createdAt: row.created_at,
      now: () => clock.now(),
    };
    const onProgress = this.#progressReporter(id);
    try {
      // If the backup is complete and only its record is missing, the backup is not created again.
      const summary =
        (await readSummary(objects, id)) ??
        (await makeBackup({ pool, objects, key, masterKey, version, onProgress }, request, signal));
      await this.#execute({ type: 'FinishBackup', backupId: id, content: contentOf({ summary }) });
      logger.info({ backupId: id, sizeBytes: summary.sizeBytes }, 'backup created');
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn({ backupId: id, error }, 'backup failed');
      await this.#execute({ type: 'FailBackup', backupId: id, reason: sentenceOf(error) });
    } finally {
      await clearWork(pool, id);
    }
  }

  async #check(row: BackupsTable, signal: AbortSignal): Promise<void> {
    const { pool, logger } = this.#deps;
    const id = backupId(row.backup_id);
    try {
      const problem = await problemOf(() => this.#verify(id, signal));
      if (problem !== null) logger.warn({ backupId: id, problem }, 'backup was not verified');
      await this.#execute({ type: 'RecordCheck', backupId: id, problem });
    } finally {
      await clearWork(pool, id);
    }
  }

  /** @throws DamagedBackup if the backup is not intact */
  async #verify(id: BackupId, signal: AbortSignal): Promise<VerifiedBackup> {
    const { objects, key, masterKeys } = this.#deps;
    const report = this.#progressReporter(id);
    const source = await storedBackup(objects, id);
    if (source === undefined) throw new DamagedBackup('The backup is not in the backup folder.');
    const { sizeBytes } = source.summary;
    const onRead = async (bytes: number) => {
      signal.throwIfAborted();
      await report(bytes / Math.max(1, sizeBytes));
    };
    return verifyBackup(source, { key, masterKeys, onRead });
  }

  /** Verifies the backup first, so that the services stop only for a backup that can be restored. The restore verifies
   *  it again, because the stored backup may change in the meantime. */
  async #passRestore(row: BackupsTable, signal: AbortSignal): Promise<void> {
    const id = backupId(row.backup_id);
    const { pool, passRestore, migrations } = this.#deps;
    if (passRestore === undefined) return this.#refuseRestore(id, noSupervisor);
    try {
      const problem = await problemOf(async () => {
        const { format } = await this.#verify(id, signal);
        migrationsFor(format, readMigrations(migrations));
      });
      if (problem === null) passRestore(id);
      else await this.#refuseRestore(id, problem);
    } finally {
      await clearWork(pool, id);
    }
  }

  async #refuseRestore(id: BackupId, reason: string): Promise<void> {
    this.#deps.logger.warn({ backupId: id, reason }, 'backup cannot be restored');
    await this.#execute({ type: 'FailRestore', backupId: id, reason });
  }

  async #dropOld(keep: number): Promise<void> {
    const own = (await allBackups(this.#deps.reads)).filter(
      (row) => row.kind === 'scheduled' && row.status === 'complete' && !row.deleted,
    );
    for (const row of own.slice(0, Math.max(0, own.length - keep))) {
      await this.#execute({ type: 'DeleteBackup', backupId: backupId(row.backup_id) });
      this.tidySoon();
    }
  }

  /** Compares stored and recorded backups. They differ after a restore, which reverts events, or after a disk was
   *  replaced. */
  async #tidy(signal: AbortSignal): Promise<void> {
    const { objects, reads } = this.#deps;
    const rows = new Map((await allBackups(reads)).map((row) => [row.backup_id, row]));
    const whole = new Set<string>();
    for (const text of await storedBackups(objects)) {
      signal.throwIfAborted();
      const id = parseBackupId(text);
      if (id === undefined) continue;
      const row = rows.get(id);
      if (row?.status === 'running' && !row.deleted) continue;
      const summary = row?.deleted === true ? undefined : await this.#renewed(id);
      if (summary === undefined) {
        await removeBackup(objects, id);
        continue;
      }
      whole.add(id);
      if (summary === 'damaged') continue;
      if (row?.status !== 'complete') {
        await this.#execute({ type: 'FindBackup', backupId: id, content: contentOf({ summary }) });
      }
    }
    for (const row of rows.values()) {
      if (row.status !== 'complete' || row.deleted || whole.has(row.backup_id)) continue;
      await this.#execute({ type: 'LoseBackup', backupId: backupId(row.backup_id) });
    }
  }

  /** Rewraps the keys of a stored backup and returns its summary. A damaged backup stays unchanged and is not listed
   *  again. Its verification reports the damage. */
  async #renewed(id: BackupId): Promise<BackupSummary | 'damaged' | undefined> {
    const { objects, pool, masterKeys, logger } = this.#deps;
    try {
      await renewKeys(pool, objects, id, masterKeys);
      return await readSummary(objects, id);
    } catch (error) {
      if (!(error instanceof DamagedBackup)) throw error;
      logger.warn({ backupId: id, problem: error.message }, 'backup could not be resealed');
      return 'damaged';
    }
  }

  #progressReporter(id: BackupId): (share: number) => Promise<void> {
    let toldMs = -Infinity;
    return async (share) => {
      if (performance.now() - toldMs < progressIntervalMs) return;
      toldMs = performance.now();
      await noteWork(this.#deps.pool, id, share);
    };
  }

  async #execute(command: BackupCommand): Promise<void> {
    const { commands, ids } = this.#deps;
    await commands.execute(command, systemContext('scheduler', ids.next(), command.backupId));
  }
}

function backupId(text: string): BackupId {
  return mustParse(parseBackupId, text);
}

/** Returns why a backup is unusable, or null if it is intact. */
async function problemOf(attempt: () => Promise<unknown>): Promise<string | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    if (error instanceof DamagedBackup || error instanceof RestoreRefused) return error.message;
    throw error;
  }
}

function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `The backup could not be written: ${text}`;
}
