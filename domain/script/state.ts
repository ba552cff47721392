import type { ApprovalRequest } from '#domain/kernel/approval.ts';
import type { ChangeId, GroupId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { Edit } from './commands.ts';
import type { ChangeEvent, FileVersion, ScriptEvent } from './events.ts';
import { defaultSettings, type ScriptSettings } from './settings.ts';

/** A file that the script currently contains. */
export interface PresentFile extends FileVersion {
  /** The version of the script's stream at which this content was added. */
  readonly since: number;
}

/** A requested change whose approval is pending. Its edits are not applied yet. */
export interface PendingChange extends ApprovalRequest {
  readonly baseVersion: number;
  readonly revision: number;
  readonly edits: readonly Edit[];
}

interface Script {
  readonly name: string;
  readonly description: string;
  readonly groupId: GroupId;
  readonly settings: ScriptSettings;
  readonly enabled: boolean;
  /** Increases with every change to files or settings. The API returns this version as the `ETag`. */
  readonly version: number;
  readonly files: ReadonlyMap<string, PresentFile>;
  /** Null if the script comes from no repository. */
  readonly source: ScriptSource | null;
  /** The pending changes, at most one per requester. */
  readonly changes: ReadonlyMap<ChangeId, PendingChange>;
}

export type ScriptState =
  | { readonly status: 'absent' }
  | ({ readonly status: 'present' } & Script)
  | ({ readonly status: 'deleted' } & Script)
  | ({ readonly status: 'purged'; readonly finished: boolean } & Script);

export type PresentScript = Extract<ScriptState, { status: 'present' }>;

export const initialScript: ScriptState = { status: 'absent' };

export function evolveScript(state: ScriptState, event: ScriptEvent, since: number): ScriptState {
  return evolved(state, event, since, (files) => new Map(files));
}

/** Folds many events, and copies the map of files only once. A script may have thousands of files. */
export function evolveScriptAll(
  state: ScriptState,
  events: readonly (ScriptEvent & { readonly version: number })[],
): ScriptState {
  let own: ReturnType<CopyFiles> | undefined;
  const edit: CopyFiles = (files) => (files === own ? own : (own = new Map(files)));
  return events.reduce((before, event) => evolved(before, event, event.version, edit), state);
}

/** Returns a mutable copy of a script's files. */
type CopyFiles = (files: PresentScript['files']) => Map<string, PresentFile>;

function evolved(
  state: ScriptState,
  event: ScriptEvent,
  since: number,
  edit: CopyFiles,
): ScriptState {
  if (event.type === 'ScriptCreated') return created(event.data, since);
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'ScriptChanged': {
      const { name, description, groupId, settings, version } = event.data;
      return {
        ...state,
        name: name ?? state.name,
        description: description ?? state.description,
        groupId: groupId ?? state.groupId,
        settings: { ...state.settings, ...settings },
        version,
      };
    }
    case 'FileSaved': {
      const { path, sha256, sizeBytes, version } = event.data;
      const files = edit(state.files).set(path, { path, sha256, sizeBytes, since });
      return { ...state, files, version };
    }
    case 'FileDeleted': {
      const files = edit(state.files);
      files.delete(event.data.path);
      return { ...state, files, version: event.data.version };
    }
    case 'FileMoved': {
      const { from, path, sha256, sizeBytes, version } = event.data;
      const files = edit(state.files).set(path, { path, sha256, sizeBytes, since });
      files.delete(from);
      return { ...state, files, version };
    }
    case 'FilesRestored': {
      const { saved, deleted, version } = event.data;
      const files = edit(state.files);
      for (const path of deleted) files.delete(path);
      for (const file of saved) files.set(file.path, { ...file, since });
      return { ...state, files, version };
    }
    case 'ScriptEnabled':
      return { ...state, enabled: true };
    case 'ScriptDisabled':
      return { ...state, enabled: false };
    case 'ScriptDeleted':
      return { ...state, status: 'deleted' };
    case 'ScriptRestored':
      return { ...state, status: 'present' };
    case 'ScriptPurged':
      return { ...state, status: 'purged', finished: false };
    case 'ScriptSourceChanged':
      return { ...state, source: event.data.source };
    case 'ScriptPurgeFinished':
      return { ...state, status: 'purged', finished: true };
    case 'ScriptChangeRequested':
    case 'ScriptChangeRevised':
    case 'ScriptChangeApproved':
    case 'ScriptChangeRejected':
    case 'ScriptChangeExpired':
    case 'ScriptChangeWithdrawn':
      return { ...state, changes: changesAfter(state.changes, event) };
  }
}

function changesAfter(
  present: PresentScript['changes'],
  { type, data }: ChangeEvent,
): PresentScript['changes'] {
  const changes = new Map(present);
  if (type === 'ScriptChangeRequested') {
    const { requestedBy, expiresAt, baseVersion, edits } = data;
    return changes.set(data.changeId, { requestedBy, expiresAt, baseVersion, edits, revision: 1 });
  }
  if (type === 'ScriptChangeRevised') {
    const before = present.get(data.changeId);
    const { expiresAt, baseVersion, revision, edits } = data;
    return before === undefined
      ? present
      : changes.set(data.changeId, { ...before, expiresAt, baseVersion, revision, edits });
  }
  changes.delete(data.changeId);
  return changes;
}

function created(
  data: Extract<ScriptEvent, { type: 'ScriptCreated' }>['data'],
  since: number,
): ScriptState {
  return {
    status: 'present',
    name: data.name,
    description: data.description,
    groupId: data.groupId,
    settings: { ...defaultSettings, ...data.settings },
    enabled: true,
    version: 1,
    files: new Map(data.files.map((file) => [file.path, { ...file, since }])),
    source: null,
    changes: new Map(),
  };
}

/** Returns the total size of the files in bytes. */
export function storageUsedBytes(files: Iterable<FileVersion>): number {
  let total = 0;
  for (const file of files) total += file.sizeBytes;
  return total;
}
