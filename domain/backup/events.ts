/** Events of a backup, in streams `backup-<id>`. Permanent: never rename a type or change the meaning of a field.
 *  A restore resets the history to the start of the backup, so it records the backup's completion again. */
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

/** The storage holds the backup, but the history had no record of the backup or its completion. */
export type BackupFound = DomainEvent<'BackupFound', Whole>;

/** A complete backup has disappeared from the storage. */
export type BackupLost = DomainEvent<'BackupLost', { readonly backupId: BackupId }>;

export type BackupCheckRequested = DomainEvent<
  'BackupCheckRequested',
  { readonly backupId: BackupId }
>;

/** The archive was read completely. `problem` is the first fault, or null if the archive is intact. */
export type BackupChecked = DomainEvent<
  'BackupChecked',
  { readonly backupId: BackupId; readonly problem: string | null }
>;

export type BackupDeleted = DomainEvent<'BackupDeleted', { readonly backupId: BackupId }>;

/** The backup will replace all current data. */
export type RestoreRequested = DomainEvent<'RestoreRequested', { readonly backupId: BackupId }>;

/** The restore failed and changed nothing. */
export type RestoreFailed = DomainEvent<
  'RestoreFailed',
  { readonly backupId: BackupId; readonly reason: string }
>;

/** The backup replaced all data. Everything recorded after the backup was discarded. */
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
