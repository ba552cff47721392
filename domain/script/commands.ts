import type { ApprovalRequest, Approver } from '#domain/kernel/approval.ts';
import type { ChangeId, GroupId, RepositoryId, ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { FileVersion } from './events.ts';
import type { ScriptSettings } from './settings.ts';

/** Marks the commands of a repository, which may change the scripts that it provides. */
interface FromRepository {
  readonly repositoryId?: RepositoryId;
}

export interface CreateScript {
  readonly type: 'CreateScript';
  readonly scriptId: ScriptId;
  readonly name: string;
  readonly description: string;
  readonly groupId: GroupId;
  readonly settings: ScriptSettings;
  readonly files: readonly FileVersion[];
}

/** Changes the given settings only. */
export interface ChangeScript extends FromRepository {
  readonly type: 'ChangeScript';
  readonly scriptId: ScriptId;
  readonly name?: string;
  readonly description?: string;
  readonly groupId?: GroupId;
  readonly settings?: Partial<ScriptSettings>;
  /** The version that the caller has seen (`If-Match`); absent: not checked. */
  readonly expectedVersion?: number;
}

export interface SaveFile extends FileVersion, FromRepository {
  readonly type: 'SaveFile';
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
  /** Hash of the file that the caller has seen; null: no file may exist; absent: not checked. */
  readonly expectedSha256?: string | null;
}

export interface DeleteFile extends FromRepository {
  readonly type: 'DeleteFile';
  readonly scriptId: ScriptId;
  readonly path: string;
  readonly expectedVersion?: number;
  readonly expectedSha256?: string;
}

export interface MoveFile {
  readonly type: 'MoveFile';
  readonly scriptId: ScriptId;
  readonly path: string;
  /** The new path; no file may exist there. */
  readonly to: string;
  readonly expectedVersion?: number;
  readonly expectedSha256?: string;
}

/** Makes the files of an earlier version the current files. */
export interface RestoreFiles {
  readonly type: 'RestoreFiles';
  readonly scriptId: ScriptId;
  readonly restoredVersion: number;
  /** All files of that version. */
  readonly files: readonly FileVersion[];
  /** The entry point of that version. It is restored if the current one is not among the files. */
  readonly entrypoint: string;
  readonly expectedVersion?: number;
}

export interface EnableScript {
  readonly type: 'EnableScript';
  readonly scriptId: ScriptId;
}

export interface DisableScript {
  readonly type: 'DisableScript';
  readonly scriptId: ScriptId;
}

export interface DeleteScript extends FromRepository {
  readonly type: 'DeleteScript';
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
}

/** Restores a deleted script. */
export interface RestoreScript {
  readonly type: 'RestoreScript';
  readonly scriptId: ScriptId;
}

/** Permanently deletes all data of a deleted script except its history. */
export interface PurgeScript {
  readonly type: 'PurgeScript';
  readonly scriptId: ScriptId;
}

/** Sets the repository that provides the script; null: the script can be edited again. */
export interface SetScriptSource {
  readonly type: 'SetScriptSource';
  readonly scriptId: ScriptId;
  readonly repositoryId: RepositoryId;
  readonly source: ScriptSource | null;
  /** Makes the script editable on the platform. The commit contains the script's current version. */
  readonly startsWriteBack?: boolean;
}

/** A command that can be part of a requested change. */
export type EditCommand =
  | ChangeScript
  | SaveFile
  | DeleteFile
  | MoveFile
  | RestoreFiles
  | RestoreScript
  | SetScriptSource;

export const editTypes = [
  'ChangeScript',
  'SaveFile',
  'DeleteFile',
  'MoveFile',
  'RestoreFiles',
  'RestoreScript',
  'SetScriptSource',
] as const satisfies readonly EditCommand['type'][];

type WithoutTarget<Command> = Command extends EditCommand
  ? Omit<Command, 'scriptId' | 'expectedVersion'>
  : never;

/** A part of a change, without its script. */
export type Edit = WithoutTarget<EditCommand>;

/** Applies edits in order. If the script is protected and the edits change what its code does, they are recorded as a
 *  request for an approval instead. */
export interface EditScript {
  readonly type: 'EditScript';
  readonly scriptId: ScriptId;
  readonly edits: readonly Edit[];
  /** Used if the script is protected. The edits are added to the pending change of the requester, if there is one. A
   *  repository has no requester; its edits replace its pending change. */
  readonly approval: ApprovalRequest & { readonly changeId: ChangeId };
  /** The version that the caller has seen; absent: not checked. */
  readonly expectedVersion?: number;
}

/** Moves a pending change to the current version of the script. Refused if both changed the same file. */
export interface RebaseChange {
  readonly type: 'RebaseChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  /** When the rebased request expires; RFC 3339, in UTC with milliseconds. */
  readonly expiresAt: string;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** Applies a pending change to the version that it was requested for. */
export interface ApproveChange {
  readonly type: 'ApproveChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  /** The revision that the approver has seen. */
  readonly revision: number;
  /** The edits of this revision. The group and the pools that they name must still exist. */
  readonly edits: readonly Edit[];
  readonly approver: Approver;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** Rejects a pending change, or withdraws the requester's own. */
export interface RejectChange {
  readonly type: 'RejectChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  readonly approver: Approver;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

export interface ExpireChange {
  readonly type: 'ExpireChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** Sent by the process that deleted the data. */
export interface FinishPurge {
  readonly type: 'FinishPurge';
  readonly scriptId: ScriptId;
}

export type ScriptCommand =
  | CreateScript
  | ChangeScript
  | SaveFile
  | DeleteFile
  | MoveFile
  | RestoreFiles
  | EnableScript
  | DisableScript
  | DeleteScript
  | RestoreScript
  | PurgeScript
  | FinishPurge
  | SetScriptSource
  | EditScript
  | ChangeCommand;

/** Commands about a pending change. */
export type ChangeCommand = RebaseChange | ApproveChange | RejectChange | ExpireChange;
