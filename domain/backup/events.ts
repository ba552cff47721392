/** Events of a backup, in streams `backup-<id>`. Permanent: never rename a type or change the meaning of a field. A
 *  backup contains only the start of its own history, so its completion is recorded again after a restore. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { BackupId } from '#domain/kernel/ids.ts';
import type { BackupContent, BackupKind } from './backup.ts';

export type BackupStarted = DomainEvent<
  'BackupStarted',
  { readonly backupId: BackupId; readonly kind: BackupKind }
>;

interface Whole {
  readonly backupId: BackupId;
  readonly content: BackupContent;
}

export type BackupFinished = DomainEvent<'BackupFinished', Whole>;

export type BackupFailed = DomainEvent<
  'BackupFailed',
  { readonly backupId: BackupId; readonly reason: string }
>;

/** A backup was found in the storage, but the history recorded no backup or no completion. */
export type BackupFound = DomainEvent<'BackupFound', Whole>;

/** A completed backup disappeared from the storage. */
export type BackupLost = DomainEvent<'BackupLost', { readonly backupId: BackupId }>;

export type BackupCheckRequested = DomainEvent<
  'BackupCheckRequested',
  { readonly backupId: BackupId }
>;

/** The entire archive was checked. `problem` describes the first fault, or is null if the archive is intact. */
export type BackupChecked = DomainEvent<
  'BackupChecked',
  { readonly backupId: BackupId; readonly problem: string | null }
>;

export type BackupDeleted = DomainEvent<'BackupDeleted', { readonly backupId: BackupId }>;

/** A user requested a restore, which replaces all current data with the backup. */
export type RestoreRequested = DomainEvent<'RestoreRequested', { readonly backupId: BackupId }>;

/** A requested restore failed. It changed no data. */
export type RestoreFailed = DomainEvent<
  'RestoreFailed',
  { readonly backupId: BackupId; readonly reason: string }
>;

/** The backup replaced all data. Everything that was recorded after the backup was discarded. */
export type BackupRestored = DomainEvent<'BackupRestored', Whole>;

export type BackupEvent =
  | BackupStarted
  | BackupFinished
  | BackupFailed
  | BackupFound
  | BackupLost
  | BackupCheckRequested
  | BackupChecked
  | BackupDeleted
  | RestoreRequested
  | RestoreFailed
  | BackupRestored;
