import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { FileVersion } from './events.ts';
import type { ScriptSettings } from './settings.ts';

export interface CreateScript {
  readonly type: 'CreateScript';
  readonly scriptId: ScriptId;
  readonly name: string;
  readonly description: string;
  readonly groupId: GroupId;
  readonly settings: ScriptSettings;
  readonly files: readonly FileVersion[];
}

/** Changes what is named and leaves the rest. */
export interface ChangeScript {
  readonly type: 'ChangeScript';
  readonly scriptId: ScriptId;
  readonly name?: string;
  readonly description?: string;
  readonly groupId?: GroupId;
  readonly settings?: Partial<ScriptSettings>;
  /** Version that the author saw (`If-Match`); left out, nothing is checked. */
  readonly expectedVersion?: number;
}

export interface SaveFile extends FileVersion {
  readonly type: 'SaveFile';
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
  /** Hash of the file that the author saw; left out, nothing is checked. */
  readonly expectedSha256?: string;
}

export interface DeleteFile {
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
  /** Where it is to be; nothing may be there. */
  readonly to: string;
  readonly expectedVersion?: number;
  readonly expectedSha256?: string;
}

export interface EnableScript {
  readonly type: 'EnableScript';
  readonly scriptId: ScriptId;
}

export interface DisableScript {
  readonly type: 'DisableScript';
  readonly scriptId: ScriptId;
}

export interface DeleteScript {
  readonly type: 'DeleteScript';
  readonly scriptId: ScriptId;
  readonly expectedVersion?: number;
}

/** Undoes a deletion. */
export interface RestoreScript {
  readonly type: 'RestoreScript';
  readonly scriptId: ScriptId;
}

/** Removes for good what a deleted script has beside its history. */
export interface PurgeScript {
  readonly type: 'PurgeScript';
  readonly scriptId: ScriptId;
}

/** Asked by whoever has removed it. */
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
  | EnableScript
  | DisableScript
  | DeleteScript
  | RestoreScript
  | PurgeScript
  | FinishPurge;
