/** Records the shapes of states. If a shape changes, the state version must change too. Otherwise, snapshots with
 *  the old shape would be read as current states. */

/** Returns every path in JSON values, with the types at that path. All items of a list have the same path. */
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
