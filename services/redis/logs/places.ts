/** IDs of lines in a stream: `<seq>-0`. Pure. */

export function placeOf(seq: number): string {
  return `${seq}-0`;
}

/** Parses an ID as the first or the last line of a range. @param as `start` or `end` of a range, which `(` makes
 *  exclusive; or `after` a line @returns `undefined` for an invalid ID */
export function parsePlace(text: string, as: 'start' | 'end' | 'after'): number | undefined {
  if (as !== 'after' && text === '-') return as === 'start' ? 1 : 0;
  if (as !== 'after' && text === '+') return Number.MAX_SAFE_INTEGER;
  const [, open = '', first = '', second] = /^(\(?)(\d{1,20})(?:-(\d{1,20}))?$/.exec(text) ?? [];
  if (first === '' || (open !== '' && as === 'after')) return undefined;
  const seq = Math.min(Number(first), Number.MAX_SAFE_INTEGER - 1);
  // The ID of a line ends in 0; without that part, a range ends after all entries with that number.
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
