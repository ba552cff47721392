/** Events of a script, in streams `script-<id>`. Permanent: never rename a type or change the meaning of a field.
 *  Events contain the hashes of files, not their contents. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ApprovalRequest } from '#domain/kernel/approval.ts';
import type { ChangeId, GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { Edit } from './commands.ts';
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

interface OfChange {
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
}

/** A change of a protected script requires an approval. The edits are not applied. */
export type ScriptChangeRequested = DomainEvent<
  'ScriptChangeRequested',
  OfChange &
    ApprovalRequest & {
      readonly scriptName: string;
      /** The version that the change applies to. */
      readonly baseVersion: number;
      readonly edits: readonly Edit[];
    }
>;

/** The edits replace the edits of the previous revision. */
export type ScriptChangeRevised = DomainEvent<
  'ScriptChangeRevised',
  OfChange & {
    /** The request is revision 1. */
    readonly revision: number;
    readonly baseVersion: number;
    readonly edits: readonly Edit[];
    /** RFC 3339, in UTC with milliseconds. */
    readonly expiresAt: string;
  }
>;

/** The actor approved the change. The next events of the same command apply it. */
export type ScriptChangeApproved = DomainEvent<'ScriptChangeApproved', OfChange>;
export type ScriptChangeRejected = DomainEvent<'ScriptChangeRejected', OfChange>;
export type ScriptChangeExpired = DomainEvent<'ScriptChangeExpired', OfChange>;
/** The requester withdrew the change, or the script was deleted. */
export type ScriptChangeWithdrawn = DomainEvent<'ScriptChangeWithdrawn', OfChange>;

export type ChangeEvent =
  | ScriptChangeRequested
  | ScriptChangeRevised
  | ScriptChangeApproved
  | ScriptChangeRejected
  | ScriptChangeExpired
  | ScriptChangeWithdrawn;

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
  | ScriptSourceChanged
  | ChangeEvent;
