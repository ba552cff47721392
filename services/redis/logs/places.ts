/** Converts line numbers to stream IDs of the form `<seq>-0`. */

export function placeOf(seq: number): string {
  return `${seq}-0`;
}

/** Parses an ID.
 *  @param as the role of the ID: the `start` or `end` of a range, or the last known line for `after`. A leading `(`
 *  excludes the line from a range
 *  @returns the number of the first or last line of the range, or `undefined` for an invalid ID */
export function parsePlace(text: string, as: 'start' | 'end' | 'after'): number | undefined {
  if (as !== 'after' && text === '-') return as === 'start' ? 1 : 0;
  if (as !== 'after' && text === '+') return Number.MAX_SAFE_INTEGER;
  const [, open = '', first = '', second] = /^(\(?)(\d{1,20})(?:-(\d{1,20}))?$/.exec(text) ?? [];
  if (first === '' || (open !== '' && as === 'after')) return undefined;
  const seq = Math.min(Number(first), Number.MAX_SAFE_INTEGER - 1);
  // The second part of a line's ID is 0. As in Redis, an ID without a second part includes all entries with the same
  // first part.
  const isBehind = second === undefined ? false : Number(second) > 0;
  switch (as) {
    case 'start':
      return isBehind || open !== '' ? seq + 1 : seq;
    case 'end':
      return open !== '' && !isBehind ? seq - 1 : seq;
    case 'after':
      return seq + 1;
  }
}
