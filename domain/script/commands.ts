import type { ApprovalRequest, Approver } from '#domain/kernel/approval.ts';
import type { ChangeId, GroupId, RepositoryId, ScriptId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { FileVersion } from './events.ts';
import type { ScriptSettings } from './settings.ts';

/** Identifies the repository that sent a command. A repository may change the scripts that it provides. */
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

/** Changes only the given settings. */
export interface ChangeScript extends FromRepository {
  readonly type: 'ChangeScript';
  readonly scriptId: ScriptId;
  readonly name?: string;
  readonly description?: string;
  readonly groupId?: GroupId;
  readonly settings?: Partial<ScriptSettings>;
  /** The version on which the client based the change (`If-Match`). If absent, the version is not checked. */
  readonly expectedVersion?: number;
}

export interface SaveFile extends FileVersion, FromRepository {
  readonly type: 'SaveFile';
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
  /** Hash of the file on which the client based the change. Null means that the file must not exist. If absent, the
   *  hash is not checked. */
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
  /** The new path, where no file may exist. */
  readonly to: string;
  readonly expectedVersion?: number;
  readonly expectedSha256?: string;
}

/** Replaces the current files with the files of an earlier version. */
export interface RestoreFiles {
  readonly type: 'RestoreFiles';
  readonly scriptId: ScriptId;
  readonly restoredVersion: number;
  /** All files of that version. */
  readonly files: readonly FileVersion[];
  /** The entry point of that version. It is used only if the files do not contain the current entry point. */
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

/** Permanently deletes all data of a deleted script except its event history. */
export interface PurgeScript {
  readonly type: 'PurgeScript';
  readonly scriptId: ScriptId;
}

/** Sets the repository that provides the script. With null, the script can be edited on the platform again. */
export interface SetScriptSource {
  readonly type: 'SetScriptSource';
  readonly scriptId: ScriptId;
  readonly repositoryId: RepositoryId;
  readonly source: ScriptSource | null;
  /** Whether users may edit the script on the platform from now on. The commit contains the current version of the
   *  script. */
  readonly startsWriteBack?: boolean;
}

/** The commands that a requested change can contain. */
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

/** One edit of a change, without the ID of its script. */
export type Edit = WithoutTarget<EditCommand>;

/** Applies edits in order. If the script is protected and the edits change what it does, an approval request with
 *  the edits is recorded instead. */
export interface EditScript {
  readonly type: 'EditScript';
  readonly scriptId: ScriptId;
  readonly edits: readonly Edit[];
  /** The approval request to record if the script is protected. If the requester already has a pending change, the
   *  edits are added to it. A repository has no requester, so its edits replace its pending change. */
  readonly approval: ApprovalRequest & { readonly changeId: ChangeId };
  /** The version on which the client based the change. If absent, the version is not checked. */
  readonly expectedVersion?: number;
}

/** Rebases a pending change onto the current version of the script. Refused if the change and the current version
 *  modify the same file. */
export interface RebaseChange {
  readonly type: 'RebaseChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  /** When the rebased request expires (RFC 3339, in UTC with milliseconds). */
  readonly expiresAt: string;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

/** Applies a pending change to the version for which it was requested. */
export interface ApproveChange {
  readonly type: 'ApproveChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  /** The revision that the approver reviewed. */
  readonly revision: number;
  /** The edits of this revision. Groups and pools to which the edits refer must still exist. */
  readonly edits: readonly Edit[];
  readonly approver: Approver;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

/** Rejects a pending change. If the requester sends this command, the change is withdrawn. */
export interface RejectChange {
  readonly type: 'RejectChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  readonly approver: Approver;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

export interface ExpireChange {
  readonly type: 'ExpireChange';
  readonly scriptId: ScriptId;
  readonly changeId: ChangeId;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

/** Records that the data of a purged script was deleted. Sent by the process that deleted the data. */
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
