/** The recorded shapes of states. A changed shape requires a new state version: otherwise snapshots of the old
 *  shape would be read as current states. */

/** Every path in JSON values with the types found there. All items of a list share one path. */
export function shapeOf(values: readonly unknown[]): Readonly<Record<string, string>> {
  const places = new Map<string, Set<string>>();
  const add = (place: string, value: unknown): void => {
    const kinds = places.get(place) ?? new Set();
    places.set(place, kinds.add(kindOf(value)));
    const parts = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    for (const [key, part] of parts) add(place + (Array.isArray(value) ? '[]' : `.${key}`), part);
  };
  for (const value of values) add('', value);
  return Object.fromEntries(
    [...places.keys()]
      .toSorted()
      .map((place) => [place, [...(places.get(place) ?? [])].toSorted().join(' | ')]),
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
