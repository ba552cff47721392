/** Requested changes to protected scripts. A change is a list of edits. */
import { isSameJson } from '#domain/kernel/json.ts';
import type { Edit } from './commands.ts';
import type { ScriptEvent } from './events.ts';
import { codeSettings, type ScriptSettings } from './settings.ts';
import { evolveScript, type ScriptState } from './state.ts';

/** An existing or deleted script. */
export type KnownScript = Exclude<ScriptState, { status: 'absent' }>;

/** Whether an edit changes what the script does, or makes deleted code executable again. */
export function changesCode(script: KnownScript, edit: Edit): boolean {
  switch (edit.type) {
    case 'SaveFile':
    case 'DeleteFile':
    case 'MoveFile':
    case 'RestoreFiles':
      return true;
    case 'RestoreScript':
      return script.status === 'deleted';
    case 'SetScriptSource':
      return false;
    case 'ChangeScript': {
      const { groupId = script.groupId, settings = {} } = edit;
      // Runs receive the secrets of the script's group, so moving the script to another group changes its inputs.
      if (groupId !== script.groupId) return true;
      return Object.entries(settings).some(
        ([name, value]) =>
          codeSettings[name as keyof ScriptSettings] &&
          !isSameJson(value, script.settings[name as keyof ScriptSettings]),
      );
    }
  }
}

/** Whether a repository's edit removes a protection. Otherwise, only administrators may remove protections. */
export function unprotects({ settings: { protected: present } }: KnownScript, edit: Edit): boolean {
  if (edit.type !== 'ChangeScript' || edit.repositoryId === undefined) return false;
  const { run, save } = edit.settings?.protected ?? present;
  return (present.run && !run) || (present.save && !save);
}

/** Whether the edits restore a deleted script. */
export function restores(edits: readonly Edit[]): boolean {
  return edits.some(({ type }) => type === 'RestoreScript');
}

/** Adds an edit to a list of edits. A new save of a path replaces an earlier save of the same path. */
export function withEdit(edits: readonly Edit[], edit: Edit): readonly Edit[] {
  if (edit.type !== 'SaveFile') return [...edits, edit];
  const index = edits.findLastIndex(
    (one) => one.type !== 'ChangeScript' && (one.type !== 'SaveFile' || one.path === edit.path),
  );
  const before = edits[index];
  if (before?.type !== 'SaveFile') return [...edits, edit];
  const { expectedSha256 } = before;
  return edits.with(index, { ...edit, ...(expectedSha256 !== undefined && { expectedSha256 }) });
}

/** Adds the hash of the file's current content to the edit. If the file changes later, the edit conflicts with that
 *  change.
 *  @param seen the script as clients read it. Clients may also expect the file's hash in this state. */
export function pinned(script: KnownScript, edit: Edit, seen: KnownScript): Edit {
  if (edit.type !== 'SaveFile' && edit.type !== 'DeleteFile' && edit.type !== 'MoveFile')
    return edit;
  const { path, expectedSha256: expected } = edit;
  const shaIn = (one: KnownScript) => one.files.get(path)?.sha256 ?? null;
  const present = shaIn(script);
  if (expected !== undefined && expected !== present && expected !== shaIn(seen)) return edit;
  if (edit.type === 'SaveFile') return { ...edit, expectedSha256: present };
  return present === null ? edit : { ...edit, expectedSha256: present };
}

/** Keeps only the settings that the edit changes, because another change may modify the other settings before this
 *  change is approved. */
export function narrowed(edit: Edit, events: readonly ScriptEvent[]): Edit {
  const changed = events.find((event) => event.type === 'ScriptChanged');
  if (edit.type !== 'ChangeScript' || changed === undefined) return edit;
  const { scriptId: _, version: __, ...changes } = changed.data;
  const { type, repositoryId } = edit;
  return { type, ...changes, ...(repositoryId !== undefined && { repositoryId }) };
}

/** Returns the script after applying events that are not recorded yet. */
export function proposed(script: KnownScript, events: readonly ScriptEvent[]): KnownScript {
  return events.reduce<ScriptState>(
    (state, event) => evolveScript(state, event, 0),
    script,
  ) as KnownScript;
}

/** Whether two states have the same files, settings and repository folder. Their commits may differ. */
export function isSameScript(one: KnownScript, other: KnownScript): boolean {
  return isSameJson(contentOf(one), contentOf(other));
}

function contentOf({ files, source, changes: _, version: __, ...rest }: KnownScript) {
  return {
    ...rest,
    source: source && { ...source, commit: null, url: null },
    files: Object.fromEntries([...files].map(([path, file]) => [path, file.sha256])),
  };
}
