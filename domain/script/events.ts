/** Events of a script, in streams `script-<id>`. Permanent: never rename a type or change the meaning of a field.
 *  Events contain the hashes of files, not their contents. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { ScriptSettings } from './settings.ts';

/** A saved file. The object store holds the content under the hash. */
export interface FileVersion {
  readonly path: string;
  /** Lower-case hex of the content's SHA-256. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

export type ScriptCreated = DomainEvent<
  'ScriptCreated',
  {
    readonly scriptId: ScriptId;
    readonly name: string;
    readonly description: string;
    readonly groupId: GroupId;
    readonly settings: ScriptSettings;
    readonly files: readonly FileVersion[];
  }
>;

/** Only the changed settings. `version` is the script's version from this event on. */
export type ScriptChanged = DomainEvent<
  'ScriptChanged',
  {
    readonly scriptId: ScriptId;
    readonly version: number;
    readonly name?: string;
    readonly description?: string;
    readonly groupId?: GroupId;
    readonly settings?: Partial<ScriptSettings>;
  }
>;

export type FileSaved = DomainEvent<
  'FileSaved',
  FileVersion & { readonly scriptId: ScriptId; readonly version: number }
>;

export type FileDeleted = DomainEvent<
  'FileDeleted',
  { readonly scriptId: ScriptId; readonly version: number; readonly path: string }
>;

/** The content moved from `from` to `path`. */
export type FileMoved = DomainEvent<
  'FileMoved',
  FileVersion & { readonly scriptId: ScriptId; readonly version: number; readonly from: string }
>;

/** The files of `restoredVersion` are the current files again. `saved` and `deleted` are the changes that this
 *  required. */
export type FilesRestored = DomainEvent<
  'FilesRestored',
  {
    readonly scriptId: ScriptId;
    readonly version: number;
    readonly restoredVersion: number;
    readonly saved: readonly FileVersion[];
    readonly deleted: readonly string[];
  }
>;

export type ScriptEnabled = DomainEvent<'ScriptEnabled', { readonly scriptId: ScriptId }>;
export type ScriptDisabled = DomainEvent<'ScriptDisabled', { readonly scriptId: ScriptId }>;
export type ScriptDeleted = DomainEvent<'ScriptDeleted', { readonly scriptId: ScriptId }>;
/** Reverses a deletion. The script is unchanged. */
export type ScriptRestored = DomainEvent<'ScriptRestored', { readonly scriptId: ScriptId }>;

/** The script can no longer be restored. Its files, its runs' data and its secrets' keys are being deleted. */
export type ScriptPurged = DomainEvent<'ScriptPurged', { readonly scriptId: ScriptId }>;
/** The stores no longer contain the data of the script. Each runtime deletes its copies at its next check. */
export type ScriptPurgeFinished = DomainEvent<
  'ScriptPurgeFinished',
  { readonly scriptId: ScriptId }
>;

/** The script comes from another commit, or no longer comes from a repository. */
export type ScriptSourceChanged = DomainEvent<
  'ScriptSourceChanged',
  { readonly scriptId: ScriptId; readonly source: ScriptSource | null }
>;

export type ScriptEvent =
  | ScriptCreated
  | ScriptChanged
  | FileSaved
  | FileDeleted
  | FileMoved
  | FilesRestored
  | ScriptEnabled
  | ScriptDisabled
  | ScriptDeleted
  | ScriptRestored
  | ScriptPurged
  | ScriptPurgeFinished
  | ScriptSourceChanged;
