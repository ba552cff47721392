import type { GroupId, RepositoryId, ScriptId } from '#domain/kernel/ids.ts';
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
  /** Hash of the file that the caller has seen; absent: not checked. */
  readonly expectedSha256?: string;
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
  /** The script can be edited here. Its current version is the one that the commit contains. */
  readonly startsWriteBack?: boolean;
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
  | SetScriptSource;
