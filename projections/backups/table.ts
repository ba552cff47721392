import type { BackupContent, BackupKind } from '#domain/backup/backup.ts';
import type { Columns } from '../columns.ts';

export type BackupStatus = 'running' | 'complete' | 'failed';

/** Rows of deleted backups remain, so that any remaining files of these backups can be deleted. */
export interface BackupsTable {
  readonly backup_id: string;
  readonly stream_version: number;
  readonly kind: BackupKind;
  readonly status: BackupStatus;
  readonly content: BackupContent | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly finished_at: Date | null;
  readonly verified_at: Date | null;
  readonly problem: string | null;
  readonly checking: boolean;
  readonly restoring: boolean;
  readonly deleted: boolean;
}

export const backupColumns: Columns<BackupsTable> = {
  backup_id: 'uuid',
  stream_version: 'bigint',
  kind: 'text',
  status: 'text',
  content: 'jsonb',
  created_at: 'timestamptz',
  created_by: 'text',
  finished_at: 'timestamptz',
  verified_at: 'timestamptz',
  problem: 'text',
  checking: 'boolean',
  restoring: 'boolean',
  deleted: 'boolean',
};

/** Contains at most one row. Without a row, automatic backups are disabled. */
export interface BackupScheduleTable {
  readonly singleton: true;
  readonly stream_version: number;
  readonly cron: string | null;
  readonly timezone: string;
  readonly keep: number;
  readonly changed_at: Date;
  readonly changed_by: string;
}
