/** What states look like, recorded beside their number: states of another shape under the same number
 *  would be taken for those of today when they are read from a snapshot. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const file = fileURLToPath(new URL('state-shapes.json', import.meta.url));

/** By aggregate: its number, and every place in its states with what may stand there. */
type Shapes = Readonly<Record<string, { readonly version: number; readonly shape: Shape }>>;
type Shape = Readonly<Record<string, string>>;

/** The places in JSON values. All parts of a list are at one place, and so are those of a map. */
export function shapeOf(values: readonly unknown[]): Shape {
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

/** Looks whether states are of the shape that was recorded for their number. With `UPDATE_STATES=true`
 *  it records that of a new number. */
export function expectRecordedShape(name: string, version: number, shape: Shape): void {
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Shapes;
  if (process.env['UPDATE_STATES'] === 'true' && recorded[name]?.version !== version) {
    const all = Object.entries({ ...recorded, [name]: { version, shape } });
    const inOrder = all.toSorted(([one], [other]) => (one < other ? -1 : 1));
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`);
    return;
  }
  const advice = `raise the stateVersion of "${name}", then record its shape with UPDATE_STATES=true`;
  expect({ version, shape }, advice).toEqual(recorded[name]);
}
