/** Reads the files of a commit as a configuration document. Each folder in `scripts/` is a script, whose settings
 *  and schedules are in `script.json`. `configuration.json` is a configuration document (docs/configuration.md). */
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import type { GitFile } from '#domain/ports/git.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { settingsName } from '#domain/repository/repository.ts';
import type { Document } from '../configuration/kind.ts';
import {
  documentFormat,
  documentVersion,
  enteredConfiguration,
  sections,
} from '../configuration/schema.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { bodyProblem, contentProblem } from '../http/validation.ts';

export const documentPath = 'configuration.json';
const inScript = /^scripts\/([^/]+)\/(.+)$/;

/** Whether a sync reads the file. */
export function isWanted(path: string): boolean {
  return path === documentPath || inScript.test(path);
}

export interface ReadDocument {
  readonly document: Document;
  /** The folder of each script, by the script's index in the document; undefined for a script without a folder. */
  readonly paths: readonly (string | undefined)[];
  /** Where each schedule is defined, by its index in the document, such as `scripts/a/script.json, schedules/0`. */
  readonly schedulePlaces: readonly string[];
}

type Json = Record<string, unknown>;

/** The sections that a commit may contain. The result always contains all of them, so that an import deletes
 *  resources that are missing from the commit. */
const permitted = sections.filter((name) => name !== 'secret_stores');

/** @param repositoryId the basis for the IDs of resources that have no ID */
export function readDocument(
  files: readonly GitFile[],
  repositoryId: string,
  ids: Ids,
): ReadDocument | Problem {
  const folders = Map.groupBy(
    files.filter(({ path }) => inScript.test(path)),
    ({ path }) => `scripts/${inScript.exec(path)?.[1]}`,
  );
  const given = files.find(({ path }) => path === documentPath);
  const base = given === undefined ? {} : parsed(given);
  if (isProblem(base)) return base;
  // The settings of secret stores determine which scripts can read external secrets. Users who can push to the
  // repository must not be able to change these settings.
  if ('secret_stores' in base) return inFile(documentPath, 'Secret stores are not permitted.');
  const idOf = (name: string) =>
    deriveTimeOrderedId(ids.derived(repositoryId, name), timeOf(repositoryId));
  const read: Folder[] = [];
  const paths = new Map<string, string>();
  for (const [path, content] of folders) {
    if (/\/(\.|\.\.|\.git)$/i.test(path))
      return inFile(path, 'A folder of a script cannot have this name.');
    const folder = readFolder(path, content, idOf);
    if (isProblem(folder)) return folder;
    const id = String(folder.script['id']);
    const other = paths.get(id.toLowerCase());
    if (other !== undefined)
      return inFile(`${path}/${settingsName}`, `The folder ${other} has the same "id": ${id}.`);
    paths.set(id.toLowerCase(), path);
    read.push(folder);
  }
  const references = new Map(read.map(({ path, script }) => [path, script['id']]));
  const whole: Json = { format: documentFormat, format_version: documentVersion, ...base };
  for (const section of permitted) whole[section] ??= [];
  if (permitted.every((section) => Array.isArray(whole[section]))) merge(whole, read, references);
  const wrong = contentProblem(whole, false) ?? bodyProblem(enteredConfiguration, whole);
  if (wrong !== undefined) return located(wrong, read, whole);
  const document = whole as unknown as Document;
  const byId = new Map(read.map(({ path, script }) => [script['id'], path]));
  return {
    document,
    paths: (document.scripts ?? []).map(({ id }) => byId.get(id)),
    schedulePlaces: schedulePlaces(read, document.schedules?.length ?? 0),
  };
}

/** The locations of all schedules. Locations in folders follow locations in the document. */
function schedulePlaces(read: readonly Folder[], total: number): readonly string[] {
  const inFolders = read.flatMap(({ path, schedules }) =>
    schedules.map((_, index) => `${path}/${settingsName}, schedules/${index}`),
  );
  const own = Array.from(
    { length: total - inFolders.length },
    (_, index) => `${documentPath}, schedules/${index}`,
  );
  return [...own, ...inFolders];
}

interface Folder {
  readonly path: string;
  readonly script: Json;
  readonly schedules: readonly Json[];
}

function readFolder(
  path: string,
  files: readonly GitFile[],
  idOf: (name: string) => string,
): Folder | Problem {
  const name = (file: GitFile) => file.path.slice(path.length + 1);
  const own = files.find((file) => name(file) === settingsName);
  const settings = own === undefined ? {} : parsed(own);
  if (isProblem(settings)) return settings;
  const { schedules = [], ...script } = settings;
  if (!Array.isArray(schedules) || !schedules.every(isObject))
    return inFile(`${path}/${settingsName}`, 'The field "schedules" is not a list of objects.');
  const contents = files
    .filter((file) => file !== own && !/(^|\/)__pycache__\//.test(file.path))
    .map((file) => ({ path: name(file), ...encoded(file.content) }));
  if (contents.length === 0) return inFile(path, 'The folder has no files to run.');
  const id = script['id'] ?? idOf(path);
  return {
    path,
    script: { name: path.slice('scripts/'.length), ...script, id, files: contents },
    schedules: schedules.map((one, index) => ({
      id: idOf(`${path} schedule ${index}`),
      ...one,
      script_id: id,
    })),
  };
}

/** Adds the folders to the document. A script may have its settings in the document and its files in a folder. */
function merge(
  whole: Json,
  read: readonly Folder[],
  references: ReadonlyMap<string, unknown>,
): void {
  const scripts = whole['scripts'] as Json[];
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    return typeof value === 'string' ? (references.get(value) ?? value) : value;
  };
  for (const section of ['rules', 'schedules', 'webhooks', 'chains'] as const) {
    whole[section] = (whole[section] as unknown[]).map((item) =>
      isObject(item)
        ? Object.fromEntries(
            Object.entries(item).map(([field, value]) => [
              field,
              /script_ids?$/.test(field) ? resolved(value) : value,
            ]),
          )
        : item,
    );
  }
  for (const { script, schedules } of read) {
    const index = scripts.findIndex((one) => isObject(one) && one['id'] === script['id']);
    if (index === -1) scripts.push(script);
    else scripts[index] = { ...scripts[index], ...script };
    (whole['schedules'] as Json[]).push(...schedules);
  }
}

/** The timestamp of a time-ordered ID. */
function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function encoded(content: Uint8Array): { readonly encoding: string; readonly content: string } {
  try {
    const text = utf8.decode(content);
    if (!text.includes('\0')) return { encoding: 'utf-8', content: text };
  } catch {
    // Encodes a file that is not valid UTF-8.
  }
  return { encoding: 'base64', content: Buffer.from(content).toString('base64') };
}

function parsed({ path, content }: GitFile): Json | Problem {
  try {
    const value: unknown = JSON.parse(utf8.decode(content));
    return isObject(value) ? value : inFile(path, 'The file does not contain a JSON object.');
  } catch (error) {
    return inFile(
      path,
      `The file is not JSON: ${error instanceof Error ? error.message : 'unknown'}.`,
    );
  }
}

function inFile(path: string, detail: string): Problem {
  return problem('validation_failed', `In ${path}: ${detail}`);
}

/** Adds the name of the file to a problem. */
function located(wrong: Problem, read: readonly Folder[], whole: Json): Problem {
  const [, section, index] = /^\/([a-z]+)\/(\d+)/.exec(wrong.errors?.[0]?.pointer ?? '') ?? [];
  const items = section === undefined ? undefined : whole[section];
  const item: unknown = Array.isArray(items) ? items[Number(index)] : undefined;
  const id = isObject(item)
    ? section === 'schedules'
      ? item['script_id']
      : item['id']
    : undefined;
  const folder = read.find(({ script }) => script['id'] === id);
  const field = wrong.errors?.[0]?.pointer.slice(1) ?? '';
  const value = isObject(item) ? item[field.split('/')[2] ?? ''] : undefined;
  if (field.endsWith('script_id') && typeof value === 'string' && value.startsWith('scripts/'))
    return inFile(
      documentPath,
      `The field "${field}" names the folder ${value}, which does not exist.`,
    );
  if (folder === undefined) return inFile(documentPath, wrong.detail);
  // Names the file, because the author does not know the indexes of the merged document.
  const detail = wrong.detail.replace(`${section}/${index}/`, '');
  return inFile(`${folder.path}/${settingsName}`, detail);
}
