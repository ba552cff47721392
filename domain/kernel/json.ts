/** JSON in the form in which the event store preserves it. */

/** Returns JSON with sorted keys, so that equal values result in equal text. The store does not preserve key order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, withSortedKeys);
}

function withSortedKeys(_key: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;
}

/** Whether two values are equal after they are stored. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Whether Postgres can store every string in `value`. Postgres stores neither NUL nor lone surrogates. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => isStorable(key) && isStorable(part));
}

/** Encodes a value that may contain maps with string keys. Each map becomes an object whose only key is `$map`.
 *  Field names that begin with `$` are escaped. */
export function packJson(value: unknown): unknown {
  if (value instanceof Map) {
    return {
      $map: [...(value as ReadonlyMap<string, unknown>)].map(([key, one]) => [key, packJson(one)]),
    };
  }
  if (Array.isArray(value)) return value.map(packJson);
  if (typeof value !== 'object' || value === null) return value;
  return renamed(value, (key) => (key.startsWith('$') ? `$${key}` : key), packJson);
}

/** Decodes the result of `packJson`. */
export function unpackJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(unpackJson);
  if (typeof json !== 'object' || json === null) return json;
  if ('$map' in json) {
    return new Map((json.$map as [string, unknown][]).map(([key, one]) => [key, unpackJson(one)]));
  }
  return renamed(json, (key) => (key.startsWith('$') ? key.slice(1) : key), unpackJson);
}

function renamed(
  fields: object,
  name: (key: string) => string,
  change: (value: unknown) => unknown,
): object {
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [name(key), change(one)]));
}
