/** Events of a script, in streams `script-<id>`. Permanent: never rename a type or change the meaning of a field.
 *  Events contain the hashes of files but not their contents. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ApprovalRequest } from '#domain/kernel/approval.ts';
import type { ChangeId, GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { Edit } from './commands.ts';
import type { ScriptSettings } from './settings.ts';

/** A saved version of a file. The object store contains its content under the hash. */
export interface FileVersion {
  readonly path: string;
  /** SHA-256 of the content, in lower-case hex. */
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

/** Contains only the changed settings. `version` is the script's version after the change. */
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

/** The file at `from` was moved to `path`. */
export type FileMoved = DomainEvent<
  'FileMoved',
  FileVersion & { readonly scriptId: ScriptId; readonly version: number; readonly from: string }
>;

/** The files of `restoredVersion` became the current files again. `saved` and `deleted` list the necessary changes. */
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
/** A deleted script was restored without any other change. */
export type ScriptRestored = DomainEvent<'ScriptRestored', { readonly scriptId: ScriptId }>;

/** A deleted script was purged and can no longer be restored. The deletion of its files, run data and secret keys
 *  begins. */
export type ScriptPurged = DomainEvent<'ScriptPurged', { readonly scriptId: ScriptId }>;
/** The script's data was deleted from all stores. Each runtime deletes its own copies at its next check. */
export type ScriptPurgeFinished = DomainEvent<
  'ScriptPurgeFinished',
  { readonly scriptId: ScriptId }
>;

/** The script now comes from another commit, or no longer comes from a repository. */
export type ScriptSourceChanged = DomainEvent<
  'ScriptSourceChanged',
  { readonly scriptId: ScriptId; readonly source: ScriptSource | null }
>;

interface OfChange {
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
}

/** A change to a protected script requires an approval. Its edits are not applied yet. */
export type ScriptChangeRequested = DomainEvent<
  'ScriptChangeRequested',
  OfChange &
    ApprovalRequest & {
      readonly scriptName: string;
      /** The script version to which the change applies. */
      readonly baseVersion: number;
      readonly edits: readonly Edit[];
    }
>;

/** The requester revised the change. The new edits replace the edits of the previous revision. */
export type ScriptChangeRevised = DomainEvent<
  'ScriptChangeRevised',
  OfChange & {
    /** The revision number, starting at 2. The original request is revision 1. */
    readonly revision: number;
    readonly baseVersion: number;
    readonly edits: readonly Edit[];
    /** In RFC 3339 format, in UTC with milliseconds. */
    readonly expiresAt: string;
  }
>;

/** A user approved the change. Later events of the same command apply the edits. */
export type ScriptChangeApproved = DomainEvent<'ScriptChangeApproved', OfChange>;
export type ScriptChangeRejected = DomainEvent<'ScriptChangeRejected', OfChange>;
export type ScriptChangeExpired = DomainEvent<'ScriptChangeExpired', OfChange>;
/** A pending change was withdrawn by its requester, or because the script was deleted. */
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
