/** Plans an import by comparing the document with the existing resources. */
import type { Command } from '#domain/aggregates.ts';
import type { ParametersSchema } from '#domain/script/settings.ts';
import { retentionSetting } from '#projections/retention/queries.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { changesOf, daysOf } from '../system/view.ts';
import { differences, type FieldChange } from './compare.ts';
import type { Import } from './import.ts';
import { reassignDeletedIds } from './deleted-ids.ts';
import type { Document, Item, ItemKind, Keeping, Kind, Present, Reading, Section } from './kind.ts';
import { kinds } from './kinds.ts';

/** A resource and the change to it. */
export interface Step {
  readonly kind: ItemKind;
  /** The resource's ID; `null` for platform settings. */
  readonly id: string | null;
  readonly name: string;
  /** The script of a schedule or webhook; otherwise `null`. */
  readonly scriptId: string | null;
  readonly action: 'create' | 'change' | 'delete' | 'unchanged' | 'absent';
  readonly changes: readonly FieldChange[];
  readonly note: string | null;
  readonly missing: readonly string[];
  /** The location in the document, as a JSON Pointer. */
  readonly pointer: string;
  readonly commands: (keeping: Keeping) => Promise<readonly Command[]>;
}

type Entry = Present<{ readonly id: string }>;
type Entries = ReadonlyMap<Section, ReadonlyMap<string, Entry>>;

/** All existing resources, by section and ID. */
export async function readPresent(reading: Reading): Promise<Entries> {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const items = (await kind.present(reading)) as unknown as readonly Entry[];
      return [kind.section, new Map(items.map((one) => [one.item.id, one]))] as const;
    }),
  );
  return new Map(found);
}

/** Plans the changes. @returns the steps in an executable order, or the problem with the document */
export async function planImport(
  wanted: Pick<Import, 'document' | 'prune' | 'provider'>,
  services: Services,
): Promise<readonly Step[] | Problem> {
  const { document: given, prune } = wanted;
  const schemas = new Map<string, ParametersSchema | null>();
  const reading: Reading = { services, prune, schemaOf: (id) => schemas.get(id) ?? null };
  const present = await readPresent(reading);
  const ids = new Map([...present].map(([section, items]) => [section, new Set(items.keys())]));
  const document = await reassignDeletedIds(given, kinds, ids, services);
  const twice = repeatedId(document);
  if (twice !== undefined) return twice;
  for (const [id, { item }] of present.get('scripts') ?? []) schemas.set(id, schemaIn(item));
  for (const script of document.scripts ?? []) {
    if (script.parameters_schema !== undefined) schemas.set(script.id, schemaIn(script));
  }
  const names = namesOf(present, document);
  const steps: Step[] = [];
  const deletions: Step[] = [];
  for (const kind of kinds) {
    const items = present.get(kind.section) ?? new Map<string, Entry>();
    for (const [index, one] of (document[kind.section] ?? []).entries()) {
      const step = await stepOf(kind, one, index, items.get(one.id), reading, names);
      if (isProblem(step)) return step;
      steps.push(step);
    }
    deletions.unshift(...absentSteps(kind, document, items, wanted, names));
  }
  return [...steps, ...(await retentionSteps(document, services)), ...deletions];
}

const schemaIn = (item: object) =>
  ('parameters_schema' in item ? item.parameters_schema : null) as ParametersSchema | null;

type Names = (item: Item) => string;

/** Returns a function that looks up a resource's display name: its own name, or the names of its scripts. */
function namesOf(present: Entries, document: Document): Names {
  const scripts = new Map<unknown, unknown>();
  for (const [id, { item }] of present.get('scripts') ?? []) scripts.set(id, item['name']);
  for (const { id, name } of document.scripts ?? []) scripts.set(id, name);
  const script = (id: unknown) => String(scripts.get(id) ?? id);
  return (item) => {
    if (typeof item['name'] === 'string') {
      const owner = item['script_id'];
      return owner === undefined ? item['name'] : `${item['name']} of ${script(owner)}`;
    }
    if ('source_script_id' in item) {
      return `${script(item['source_script_id'])} → ${script(item['target_script_id'])}`;
    }
    const { cron, interval_seconds: seconds, once_at: onceAt } = item;
    const once = typeof onceAt === 'string' ? `once at ${onceAt}` : undefined;
    const when = typeof cron === 'string' ? cron : (once ?? `every ${String(seconds)} s`);
    return `${script(item['script_id'])}: ${when}`;
  };
}

function repeatedId(document: Document): Problem | undefined {
  for (const { section } of kinds) {
    const seen = new Set<string>();
    for (const [index, { id }] of (document[section] ?? []).entries()) {
      if (seen.has(id)) return problemAt(`/${section}/${index}/id`, 'appears twice');
      seen.add(id);
    }
  }
  return undefined;
}

async function stepOf(
  kind: Kind,
  given: { readonly id: string },
  index: number,
  present: Entry | undefined,
  reading: Reading,
  names: Names,
): Promise<Step | Problem> {
  const pointer = `/${kind.section}/${index}`;
  const wanted = await (present === undefined
    ? kind.make(given as never, reading)
    : present.change(given));
  if (isProblem(wanted)) return within(pointer, wanted);
  const changes = differences(present?.item, wanted.item);
  const isSame = present !== undefined && changes.length === 0;
  return {
    kind: kind.kind,
    id: given.id,
    name: names(wanted.item),
    scriptId: ownerOf(wanted.item),
    action: present === undefined ? 'create' : isSame ? 'unchanged' : 'change',
    changes,
    note: wanted.note ?? null,
    missing: wanted.missing ?? [],
    pointer,
    commands: isSame ? noCommands : wanted.commands,
  };
}

const ownerOf = (item: Item) => (item['script_id'] as string | undefined) ?? null;

const noCommands = () => Promise.resolve([]);

/** The steps for resources that the document omits, although it contains their section. */
function absentSteps(
  kind: Kind,
  document: Document,
  items: ReadonlyMap<string, Entry>,
  { prune, provider }: Pick<Import, 'prune' | 'provider'>,
  names: Names,
): readonly Step[] {
  const section = document[kind.section];
  if (section === undefined) return [];
  const named = new Set(section.map(({ id }) => id));
  const absent = [...items.values()].filter(
    ({ item, hidden }) =>
      !hidden && !named.has(item.id) && (provider?.owns(kind.kind, item.id) ?? true),
  );
  return absent.map(({ item, kept, remove }) => {
    const isDeleted = prune && kept === undefined;
    return {
      kind: kind.kind,
      id: item.id,
      name: names(item),
      scriptId: ownerOf(item),
      action: isDeleted ? 'delete' : 'absent',
      changes: [],
      note: prune && kept !== undefined ? `Not deleted: ${kept}` : null,
      missing: [],
      pointer: `/${kind.section}`,
      commands: isDeleted ? () => Promise.resolve([remove()]) : noCommands,
    } as const;
  });
}

async function retentionSteps(
  { retention }: Document,
  { readModels }: Services,
): Promise<readonly Step[]> {
  if (retention === undefined) return [];
  const present = daysOf(await retentionSetting(readModels));
  const changes = differences(
    { id: 'retention', ...present },
    { id: 'retention', ...present, ...retention },
  );
  return [
    {
      kind: 'retention',
      id: null,
      name: 'Retention',
      scriptId: null,
      action: changes.length === 0 ? 'unchanged' : 'change',
      changes,
      note: null,
      missing: [],
      pointer: '/retention',
      commands: () =>
        Promise.resolve(
          changes.length === 0 ? [] : [{ type: 'ChangeRetention', changes: changesOf(retention) }],
        ),
    },
  ];
}

/** Prefixes the locations in a problem with the location of the affected part of the document. */
export function within(pointer: string, { code, detail, errors }: Problem): Problem {
  const parts = errors ?? [{ pointer: '', detail }];
  return problem(code, `In ${pointer.slice(1)}: ${detail}`, {
    errors: parts.map((one) => ({ ...one, pointer: `${pointer}${one.pointer}` })),
  });
}

function problemAt(pointer: string, detail: string): Problem {
  return problem('validation_failed', `The field "${pointer.slice(1)}" ${detail}.`, {
    errors: [{ pointer, detail }],
  });
}
