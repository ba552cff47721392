/** Facts of a script, in streams `script-<id>`. Stored for good: a type is never renamed and a field
 *  never changes its meaning. File bodies are not here, only their hashes. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSettings } from './settings.ts';

/** One file as it was saved. The bytes are in the object store under the hash. */
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

/** Only what changed is there. `version` is the script's from then on. */
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

/** The content is where it was; `path` is where the file is from then on. */
export type FileMoved = DomainEvent<
  'FileMoved',
  FileVersion & { readonly scriptId: ScriptId; readonly version: number; readonly from: string }
>;

export type ScriptEnabled = DomainEvent<'ScriptEnabled', { readonly scriptId: ScriptId }>;
export type ScriptDisabled = DomainEvent<'ScriptDisabled', { readonly scriptId: ScriptId }>;
export type ScriptDeleted = DomainEvent<'ScriptDeleted', { readonly scriptId: ScriptId }>;
/** Undoes a deletion: the script is as it was before. */
export type ScriptRestored = DomainEvent<'ScriptRestored', { readonly scriptId: ScriptId }>;

/** A deleted script cannot come back from now on: its files, what its runs left and the keys of its
 *  secrets are being removed. */
export type ScriptPurged = DomainEvent<'ScriptPurged', { readonly scriptId: ScriptId }>;
/** Nothing of that is left in the stores. Each runtime removes what it has as soon as it looks. */
export type ScriptPurgeFinished = DomainEvent<
  'ScriptPurgeFinished',
  { readonly scriptId: ScriptId }
>;

export type ScriptEvent =
  | ScriptCreated
  | ScriptChanged
  | FileSaved
  | FileDeleted
  | FileMoved
  | ScriptEnabled
  | ScriptDisabled
  | ScriptDeleted
  | ScriptRestored
  | ScriptPurged
  | ScriptPurgeFinished;
