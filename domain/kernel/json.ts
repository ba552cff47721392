/** JSON as the event store keeps it. */

/** JSON text with the keys in order: equal values give equal text. The store does not keep the order
 *  that keys were written in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, withSortedKeys);
}

function withSortedKeys(_key: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;
}

/** Whether every text in `value` can be kept: a NUL or half of a surrogate pair cannot. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => isStorable(key) && isStorable(part));
}
