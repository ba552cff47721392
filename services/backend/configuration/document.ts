/** The configuration as text, which an export writes and an import reads. */
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { isStorable } from '#domain/kernel/json.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { retentionSetting } from '#projections/retention/queries.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { bodyProblem, contentProblem } from '../http/validation.ts';
import type { Services } from '../services.ts';
import { daysOf } from '../system/view.ts';
import type { Document, Item, Present } from './kind.ts';
import { kinds } from './kinds.ts';
import { readPresent } from './plan.ts';
import { documentFormat, documentVersion, enteredConfiguration } from './schema.ts';

/** The maximum size of a document. */
export const maxDocumentBytes = 100 * 1024 * 1024;

/** Maximum encoded length per byte of a file. Files are encoded as base64 or as escaped text. */
const bytesPerByte = 1.4;

type FileEntry = { readonly sha256: string; readonly size_bytes: number };

/** Streams the document. The same configuration always gives the same text.
 *  @param withFiles whether to include the contents of script files */
export async function exportConfiguration(
  withFiles: boolean,
  services: Services,
): Promise<AsyncIterable<Uint8Array> | Problem> {
  const present = await readPresent({ services, prune: false, schemaOf: () => null });
  const sections = kinds.map(({ section }) => ({
    section,
    items: shown([...(present.get(section)?.values() ?? [])]),
  }));
  const scripts = sections.find(({ section }) => section === 'scripts')?.items ?? [];
  const fileBytes = withFiles ? totalBytes(scripts) : 0;
  if (fileBytes * bytesPerByte > maxDocumentBytes) {
    const detail = 'The files are too large for one document. Leave them out with `files=false`.';
    return problem('payload_too_large', detail);
  }
  const retention = daysOf(await retentionSetting(services.readModels));
  return text(sections, retention, withFiles, services.objects);
}

function shown(
  items: readonly Present<never>[] | readonly Present<{ id: string }>[],
): readonly Item[] {
  return items
    .filter(({ hidden }) => !hidden)
    .map(({ item: { deleted: _, ...item } }) => item as Item)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function totalBytes(scripts: readonly Item[]): number {
  const files = scripts.flatMap((one) => Object.values(one['files'] as Record<string, FileEntry>));
  return files.reduce((total, file) => total + file.size_bytes, 0);
}

async function* text(
  sections: readonly { readonly section: string; readonly items: readonly Item[] }[],
  retention: object,
  withFiles: boolean,
  objects: ObjectStore,
): AsyncGenerator<Uint8Array, void> {
  const head = { format: documentFormat, format_version: documentVersion };
  yield Buffer.from(`${JSON.stringify(head, null, 2).slice(0, -2)},\n`);
  for (const { section, items } of sections) {
    yield Buffer.from(`  ${JSON.stringify(section)}: [`);
    for (const [index, item] of items.entries()) {
      const whole = section === 'scripts' ? await withContents(item, withFiles, objects) : item;
      yield Buffer.from(`${index === 0 ? '' : ','}\n${indented(whole, '    ')}`);
    }
    yield Buffer.from(items.length === 0 ? '],\n' : '\n  ],\n');
  }
  yield Buffer.from(`  "retention": ${indented(retention, '  ').trimStart()}\n}\n`);
}

function indented(value: object, margin: string): string {
  return margin + JSON.stringify(value, null, 2).replaceAll('\n', `\n${margin}`);
}

async function withContents(script: Item, withFiles: boolean, objects: ObjectStore): Promise<Item> {
  const { files, ...settings } = script;
  if (!withFiles) return settings as Item;
  const scriptId = mustParse(parseScriptId, script.id);
  const contents: object[] = [];
  for (const [path, { sha256 }] of Object.entries(files as Record<string, FileEntry>)) {
    const bytes = await objects.get(objectKey.scriptBlob(scriptId, sha256));
    if (bytes === undefined) throw new Error(`content ${sha256} is missing`);
    contents.push({ path, ...encoded(bytes) });
  }
  return { ...settings, files: contents } as Item;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function encoded(bytes: Uint8Array): { readonly encoding: string; readonly content: string } {
  const content = decoded(bytes);
  return content !== undefined && isStorable(content)
    ? { encoding: 'utf-8', content }
    : { encoding: 'base64', content: Buffer.from(bytes).toString('base64') };
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Parses and validates a whole document. */
export function parseDocument(bytes: Uint8Array): Document | Problem {
  const content = decoded(bytes);
  const parsed = content === undefined ? notJson : parseJson(content);
  if (isProblem(parsed)) return parsed;
  const newer = otherVersion(parsed);
  return (
    newer ??
    contentProblem(parsed, false) ??
    bodyProblem(enteredConfiguration, parsed) ??
    (parsed as Document)
  );
}

const notJson = problem('malformed_json', 'The document is truncated, or is not JSON in UTF-8.');

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    return notJson;
  }
}

function otherVersion(document: unknown): Problem | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  if (!('format' in document) || document.format !== documentFormat) {
    const detail = `This is not a configuration document: its "format" is not "${documentFormat}".`;
    return problem('validation_failed', detail, {
      errors: [{ pointer: '/format', detail: `is not "${documentFormat}"` }],
    });
  }
  const version = 'format_version' in document ? document.format_version : undefined;
  if (typeof version !== 'number' || version <= documentVersion) return undefined;
  const detail =
    `The document has format version ${version}, but this release supports only version ` +
    `${documentVersion}. Update this installation first.`;
  return problem('validation_failed', detail, {
    errors: [{ pointer: '/format_version', detail: 'is newer than this release supports' }],
  });
}
