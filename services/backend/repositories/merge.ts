/** Merges a script's local changes into the newest commit of a branch. */
import { isSameJson } from '#domain/kernel/json.ts';
import { settingsName } from '#domain/repository/repository.ts';
import { differences, type FieldChange } from '../configuration/compare.ts';
import type { Item } from '../configuration/kind.ts';

export interface EditedScript {
  /** The script's folder, as named in the snapshot. */
  readonly path: string;
  /** The script as of the last applied commit and of each commit pushed since then. */
  readonly earlier: readonly [Item, ...Item[]];
  readonly now: Item;
}

export interface Merged {
  /** New contents by path: text, the SHA-256 of one of the script's files, or null to delete the file. */
  readonly files: ReadonlyMap<string, { readonly sha256: string } | string | null>;
  /** The changed files and fields, such as `main.py` or `limits.wall_clock_seconds`. */
  readonly changed: readonly string[];
}

/** The reason why the changes cannot be merged. */
export interface Conflict {
  readonly conflict: string;
}

type Json = Record<string, unknown>;
type FileFacts = { readonly sha256: string } | null;

/** The files of a commit, by path. */
export interface Branch {
  /** The SHA-256 of a file; null if it does not exist. */
  readonly sha256: (path: string) => string | null;
  readonly text: (path: string) => string | undefined;
  readonly hasFolder: (path: string) => boolean;
}

/** Merges the changes. The branch's own changes to other files and other settings are kept. */
export function mergeScript(
  { path, earlier, now }: EditedScript,
  branch: Branch,
): Merged | Conflict {
  if (!branch.hasFolder(path)) return { conflict: `The folder ${path} was deleted.` };
  const files = new Map<string, { readonly sha256: string } | string | null>();
  const changed: string[] = [];
  const all = differences(earlier[0], now).map((one) => ({
    ...one,
    earlier: valuesOf(one, earlier),
  }));
  for (const { field, to, earlier: values } of all.filter(({ field: one }) => isFile(one))) {
    const name = field.slice('files/'.length);
    if (/(^|\/)__pycache__\//.test(name)) continue;
    if (name === settingsName && to !== null)
      return { conflict: `${settingsName} has the settings of the script. Rename this file.` };
    const file = `${path}/${name}`;
    const present = branch.sha256(file);
    const wanted = (to as FileFacts)?.sha256 ?? null;
    if (present === wanted) continue;
    if (!values.some((one) => ((one as FileFacts)?.sha256 ?? null) === present))
      return { conflict: `${file} was also changed in the repository.` };
    files.set(file, wanted === null ? null : { sha256: wanted });
    changed.push(name);
  }
  const settings = all.filter(({ field }) => !isFile(field));
  if (settings.length > 0) {
    const file = `${path}/${settingsName}`;
    const text = branch.text(file) ?? '{}';
    const document = parsed(text);
    if (document === undefined) return { conflict: `${file} is not a JSON object.` };
    const before = changed.length;
    for (const one of settings) {
      const outcome = setField(document, one, now);
      if (outcome === 'conflict')
        return {
          conflict: `The field ${one.field} in ${file} was also changed in the repository.`,
        };
      if (outcome === 'set') changed.push(one.field);
    }
    if (changed.length > before)
      files.set(file, `${JSON.stringify(document, null, indentOf(text))}\n`);
  }
  return { files, changed };
}

const isFile = (field: string) => field.startsWith('files/');

/** The values of the field in earlier versions. */
function valuesOf({ field, from }: FieldChange, [base, ...others]: EditedScript['earlier']) {
  const since = others.map((item) => {
    const change = differences(base, item).find((one) => one.field === field);
    return change === undefined ? from : change.to;
  });
  return [from, ...since];
}

/** Sets a field. There is a conflict if the document has a value that this installation never had. */
function setField(
  document: Json,
  { field, to, earlier }: FieldChange & { readonly earlier: readonly unknown[] },
  now: Item,
): 'set' | 'same' | 'conflict' {
  const [section = '', ...rest] = field.split('.');
  const part = rest.join('.');
  const owner = part === '' ? document : document[section];
  const name = part === '' ? section : part;
  if (!isObject(owner)) {
    // Writes only the changed setting of a section. Variables are an exception, and are written as a whole.
    document[section] = section === 'environment' ? now[section] : { [name]: to };
    return 'set';
  }
  const present = owner[name];
  if (present === undefined ? to === null && part !== '' : agrees(present, to)) return 'same';
  const isEarlier = earlier.some((one) => agrees(present, one));
  if (present !== undefined && !isEarlier) return 'conflict';
  if (to === null && part !== '') Reflect.deleteProperty(owner, name);
  else owner[name] = to;
  return 'set';
}

/** Whether a value in the document equals a value of the script. The document may omit members of an object. */
function agrees(given: unknown, value: unknown): boolean {
  if (!isObject(given) || !isObject(value)) return isSameJson(given ?? null, value ?? null);
  return Object.entries(given).every(([name, one]) => isSameJson(one, value[name] ?? null));
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The document's indentation, which the merged document keeps. */
function indentOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
