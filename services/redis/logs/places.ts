/** IDs of lines in a stream: `<seq>-0`. Pure. */

export function placeOf(seq: number): string {
  return `${seq}-0`;
}

/** Parses an ID.
 *  @param as the role of the ID: `start` or `end` of a range, where a leading `(` excludes the line; or `after`, the
 *  last known line
 *  @returns the number of the first or last line of the range; `undefined` for an invalid ID */
export function parsePlace(text: string, as: 'start' | 'end' | 'after'): number | undefined {
  if (as !== 'after' && text === '-') return as === 'start' ? 1 : 0;
  if (as !== 'after' && text === '+') return Number.MAX_SAFE_INTEGER;
  const [, open = '', first = '', second] = /^(\(?)(\d{1,20})(?:-(\d{1,20}))?$/.exec(text) ?? [];
  if (first === '' || (open !== '' && as === 'after')) return undefined;
  const seq = Math.min(Number(first), Number.MAX_SAFE_INTEGER - 1);
  // The second part of a line's ID is 0. If an ID lacks it, a range includes all entries with the first part, as in
  // Redis.
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
