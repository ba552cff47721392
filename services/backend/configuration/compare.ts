/** What differs between what is there and what a document wants. */
import { isSameJson } from '#domain/kernel/json.ts';
import type { Item } from './kind.ts';

export interface FieldChange {
  /** Such as `limits.memory_bytes` or `files/main.py`. */
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Fields that tell and do not decide. */
const told: ReadonlySet<string> = new Set(['id', 'secrets']);
/** Fields whose parts are named one by one, by what stands between the names. */
const parted: Readonly<Record<string, string>> = {
  limits: '.',
  retry: '.',
  environment: '.',
  config: '.',
  files: '/',
};

/** Field by field, in the order of the wanted thing; a part that is not there is `null`.
 *  @param present `undefined` for something new */
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
