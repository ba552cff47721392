/** Compares two versions of a script. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { PresentFile, ScriptState } from '#domain/script/state.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { streamVersionOf } from '#infra/postgres/event-store/streams-at.ts';
import { unifiedDiff } from '#services/shared/text/unified-diff.ts';
import { problem } from '../../http/problem.ts';
import { scriptStateAt } from './state-at.ts';

/** The maximum size of files whose contents are compared. Larger files are listed without a diff. */
const maxComparedBytes = 256 * 1024;

export const noVersion = problem('not_found', 'The script has no such version.');

type Known = Exclude<ScriptState, { status: 'absent' }>;

/** The script as of this version; `undefined` if the version never existed. */
export async function scriptOfVersion(
  db: Queryable,
  scriptId: ScriptId,
  version: number,
): Promise<Known | undefined> {
  const until = await streamVersionOf(db, `script-${scriptId}`, version);
  const state = await scriptStateAt(db, scriptId, until);
  return state.status === 'absent' || state.version !== version ? undefined : state;
}

export interface ChangedPath {
  readonly path: string;
  readonly before: PresentFile | undefined;
  readonly after: PresentFile | undefined;
}

/** The paths that follow `after` and whose contents differ, sorted. */
export function changedPaths(one: Known, other: Known, after = ''): readonly ChangedPath[] {
  return [...new Set([...one.files.keys(), ...other.files.keys()])]
    .filter((path) => path > after)
    .toSorted()
    .map((path) => ({ path, before: one.files.get(path), after: other.files.get(path) }))
    .filter(({ before, after: behind }) => before?.sha256 !== behind?.sha256);
}

/** Formats a changed path for API responses, without its diff. */
export function fileJson({ path, before, after }: ChangedPath) {
  const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const hashes = { sha256_before: before?.sha256 ?? null, sha256_after: after?.sha256 ?? null };
  return { path, change, ...hashes };
}

/** Names of settings that differ. */
export function changedSettings(one: Known, other: Known) {
  const [before, after] = [settingsOf(one), settingsOf(other)];
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({ name, before: before[name] ?? null, after: after[name] ?? null }));
}

function settingsOf({ name, description, groupId, settings }: Known): Record<string, unknown> {
  return { name, description, groupId, ...settings };
}

/** The diff of a file, or the reason why it is omitted. */
export type FileDiff =
  | { readonly diff: string; readonly omitted: null }
  | { readonly diff: null; readonly omitted: 'binary' | 'too_large' | 'content_removed' };

export async function diffOf(
  objects: ObjectStore,
  scriptId: ScriptId,
  { before, after }: ChangedPath,
): Promise<FileDiff> {
  const sizes = [before, after].map((file) => file?.sizeBytes ?? 0);
  if (Math.max(...sizes) > maxComparedBytes) return { diff: null, omitted: 'too_large' };
  const contents = await Promise.all(
    [before, after].map((file) => textOf(objects, scriptId, file)),
  );
  const [one, other] = contents;
  if (one === undefined || other === undefined) return { diff: null, omitted: 'content_removed' };
  if (one === 'binary' || other === 'binary') return { diff: null, omitted: 'binary' };
  return { diff: unifiedDiff(one.text, other.text), omitted: null };
}

async function textOf(
  objects: ObjectStore,
  scriptId: ScriptId,
  file: PresentFile | undefined,
): Promise<{ readonly text: string } | 'binary' | undefined> {
  if (file === undefined) return { text: '' };
  const bytes = await objects.get(objectKey.scriptBlob(scriptId, file.sha256));
  if (bytes === undefined) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? 'binary' : { text };
  } catch {
    return 'binary'; // The content is not valid UTF-8.
  }
}
