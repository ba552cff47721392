/** Compares existing resources with a document. */
import { isSameJson } from '#domain/kernel/json.ts';
import type { Item } from './kind.ts';

export interface FieldChange {
  /** Path of the field, such as `limits.memory_bytes` or `files/main.py`. */
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Informational fields, which are not compared. */
const told: ReadonlySet<string> = new Set(['id', 'secrets']);
/** Fields whose members are compared individually. Each value separates the field from the member in reported names. */
const parted: Readonly<Record<string, string>> = {
  limits: '.',
  retry: '.',
  environment: '.',
  config: '.',
  files: '/',
};

/** Lists the fields that differ, in the order of the document. A missing field is `null`.
 *  @param present `undefined` for a new resource */
export function differences(present: Item | undefined, wanted: Item): readonly FieldChange[] {
  const before = present === undefined ? new Map<string, unknown>() : fieldsOf(present);
  const after = fieldsOf(wanted);
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((field) => {
    const [from, to] = [before.get(field) ?? null, after.get(field) ?? null];
    return isSameJson(from, to) ? [] : [{ field, from, to }];
  });
}

function fieldsOf(item: Item): ReadonlyMap<string, unknown> {
  const entries = Object.entries(item).filter(([name]) => !told.has(name));
  return new Map(
    entries.flatMap(([name, value]): [string, unknown][] => {
      const between = parted[name];
      if (between === undefined || typeof value !== 'object' || value === null)
        return [[name, value]];
      return Object.entries(value).map(([part, one]) => [`${name}${between}${part}`, one]);
    }),
  );
}
