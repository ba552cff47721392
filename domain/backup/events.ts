/** Facts of a backup, in streams `backup-<id>`. Stored for good: a type is never renamed and a field never changes
 *  its meaning. A restore takes the history back to where the backup began: what its stream says of its end is
 *  recorded anew then. */
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

/** It lies with the others, though the history did not know of it, or knew that it had no end. */
export type BackupFound = DomainEvent<'BackupFound', Whole>;

/** It was whole, and is not there any more. */
export type BackupLost = DomainEvent<'BackupLost', { readonly backupId: BackupId }>;

export type BackupCheckRequested = DomainEvent<
  'BackupCheckRequested',
  { readonly backupId: BackupId }
>;

/** All of it was read, and is what was written; else the first fault. */
export type BackupChecked = DomainEvent<
  'BackupChecked',
  { readonly backupId: BackupId; readonly problem: string | null }
>;

export type BackupDeleted = DomainEvent<'BackupDeleted', { readonly backupId: BackupId }>;

/** It is to take the place of all there is. */
export type RestoreRequested = DomainEvent<'RestoreRequested', { readonly backupId: BackupId }>;

/** Nothing was changed. */
export type RestoreFailed = DomainEvent<
  'RestoreFailed',
  { readonly backupId: BackupId; readonly reason: string }
>;

/** All that comes before is from this backup; what had happened after it is gone. */
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
