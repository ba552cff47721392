import type { Recorded } from '#domain/aggregates.ts';
import type { BackupContent } from '#domain/backup/backup.ts';
import type { BackupEvent } from '#domain/backup/events.ts';
import type { BackupScheduleChanged } from '#domain/system/events.ts';
import { sql } from 'kysely';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { backupColumns, type BackupsTable } from './table.ts';

type Row = Omit<BackupsTable, 'stream_version'>;

/** Builds the backups and their operations in progress. */
export const backupsProjection: Projection = rowProjection<BackupsTable, Recorded<BackupEvent>>({
  name: 'backups',
  version: 2,
  table: 'backups',
  key: 'backup_id',
  columns: backupColumns,
  handles: [
    'BackupStarted',
    'BackupFinished',
    'BackupFailed',
    'BackupFound',
    'BackupLost',
    'BackupCheckRequested',
    'BackupChecked',
    'BackupDeleted',
    'RestoreRequested',
    'RestoreFailed',
    'BackupRestored',
  ],
  keyOf: (event) => event.data.backupId,
  step: (row, event) => {
    switch (event.type) {
      case 'BackupStarted':
        return started(event);
      case 'BackupFinished':
      case 'BackupFound':
      case 'BackupRestored':
        return whole(row, event, event.data.content);
      case 'BackupFailed':
      case 'BackupLost':
      case 'BackupCheckRequested':
      case 'BackupChecked':
      case 'BackupDeleted':
      case 'RestoreRequested':
      case 'RestoreFailed':
        return row && { ...row, ...changeBy(event) };
    }
  },
});

function started(event: Extract<Recorded<BackupEvent>, { type: 'BackupStarted' }>): Row {
  return {
    backup_id: event.data.backupId,
    kind: event.data.kind,
    status: 'running',
    content: null,
    created_at: event.recordedAt,
    created_by: actorName(event.metadata.actor),
    finished_at: null,
    verified_at: null,
    problem: null,
    checking: false,
    restoring: false,
    deleted: false,
  };
}

function whole(row: Row | undefined, event: Recorded<BackupEvent>, content: BackupContent): Row {
  return {
    backup_id: event.data.backupId,
    kind: content.kind,
    status: 'complete',
    content,
    created_at: row?.created_at ?? new Date(content.createdAt),
    created_by: row?.created_by ?? actorName(event.metadata.actor),
    finished_at: new Date(content.finishedAt),
    // A backup that is found again may have a different archive, so an earlier check is no longer valid.
    verified_at: row === undefined || row.deleted ? null : row.verified_at,
    problem: null,
    checking: false,
    restoring: false,
    deleted: false,
  };
}

type Other = Exclude<
  Recorded<BackupEvent>,
  { type: 'BackupStarted' | 'BackupFinished' | 'BackupFound' | 'BackupRestored' }
>;

function changeBy(event: Other): Partial<Row> {
  switch (event.type) {
    case 'BackupFailed':
      return { status: 'failed', problem: event.data.reason, finished_at: event.recordedAt };
    case 'BackupLost':
      return {
        status: 'failed',
        problem: 'The backup is missing from the backup storage.',
        checking: false,
      };
    case 'BackupCheckRequested':
      return { checking: true };
    case 'BackupChecked': {
      const { problem } = event.data;
      if (problem !== null) return { checking: false, problem, verified_at: null };
      return { checking: false, problem: null, verified_at: event.recordedAt };
    }
    case 'BackupDeleted':
      return { deleted: true, checking: false };
    case 'RestoreRequested':
      return { restoring: true };
    case 'RestoreFailed':
      return { restoring: false, problem: event.data.reason };
  }
}

/** Builds the schedule of automatic backups. */
export const backupScheduleProjection: Projection = {
  name: 'backup_schedule',
  version: 1,
  handles: ['BackupScheduleChanged'],
  tables: ['backup_schedule'],
  apply: async (db, events) => {
    const last = (events as readonly Recorded<BackupScheduleChanged>[]).at(-1);
    if (last === undefined) return;
    const { cron, timezone, keep } = last.data;
    const by = actorName(last.metadata.actor);
    await sql`
      INSERT INTO backup_schedule AS present (singleton, stream_version, cron, timezone, keep,
        changed_at, changed_by)
      VALUES (true, ${last.version}, ${cron}, ${timezone}, ${keep}, ${last.recordedAt}, ${by})
      ON CONFLICT (singleton) DO UPDATE SET stream_version = excluded.stream_version,
        cron = excluded.cron, timezone = excluded.timezone, keep = excluded.keep,
        changed_at = excluded.changed_at, changed_by = excluded.changed_by
      WHERE present.stream_version < excluded.stream_version`.execute(db);
  },
};
