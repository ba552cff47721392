/** Finds the differences between a folder and its script, by three-way comparison. Pure. */

/** The SHA-256 of each file, by path. */
export type Hashes = Readonly<Record<string, string>>;

/** Where a file has changed since the last sync: in the folder, on the server, or on both sides. */
export type Side = 'here' | 'there' | 'both';

export interface Difference {
  readonly path: string;
  /** `both` is a conflict, because the contents of the sides differ. */
  readonly side: Side;
  readonly change: 'new' | 'changed' | 'deleted' | 'conflict';
}

/** Compares both sides.
 *  @param base the files at the last sync, when both sides were equal. A file without an entry is a conflict if the
 *  sides differ.
 *  @returns the differences, ordered by path */
export function differences(base: Hashes, here: Hashes, there: Hashes): readonly Difference[] {
  const paths = [...new Set([...Object.keys(base), ...Object.keys(here), ...Object.keys(there)])];
  return paths
    .toSorted()
    .flatMap((path) => differenceOf(path, base[path], here[path], there[path]));
}

function differenceOf(
  path: string,
  base: string | undefined,
  here: string | undefined,
  there: string | undefined,
): readonly Difference[] {
  if (here === there) return [];
  if (there === base) return [{ path, side: 'here', change: changeOf(base, here) }];
  if (here === base) return [{ path, side: 'there', change: changeOf(base, there) }];
  return [{ path, side: 'both', change: 'conflict' }];
}

function changeOf(before: string | undefined, after: string | undefined): Difference['change'] {
  if (before === undefined) return 'new';
  return after === undefined ? 'deleted' : 'changed';
}

/** The new `base` after the changes in `done` were transferred.
 *  @param side the source of the transfer */
export function nextBase(
  base: Hashes,
  here: Hashes,
  there: Hashes,
  done: readonly string[],
  side: 'here' | 'there',
): Hashes {
  const source = side === 'here' ? here : there;
  const result: Record<string, string> = {};
  const paths = new Set([...Object.keys(base), ...Object.keys(here), ...Object.keys(there)]);
  const carried = new Set(done);
  for (const path of [...paths].toSorted()) {
    const isSame = here[path] === there[path];
    const hash = carried.has(path) ? source[path] : isSame ? here[path] : base[path];
    if (hash !== undefined) result[path] = hash;
  }
  return result;
}
