/** Ids of lines in a stream: `<seq>-0`. Pure. */

export function placeOf(seq: number): string {
  return `${seq}-0`;
}

/** Reads an id as the first line that is meant, or as the last one.
 *  @param as `start` and `end` of a range, which may leave out their own line by `(`; `after` a line
 *  @returns `undefined` where it is no id */
export function parsePlace(text: string, as: 'start' | 'end' | 'after'): number | undefined {
  if (as !== 'after' && text === '-') return as === 'start' ? 1 : 0;
  if (as !== 'after' && text === '+') return Number.MAX_SAFE_INTEGER;
  const [, open = '', first = '', second] = /^(\(?)(\d{1,20})(?:-(\d{1,20}))?$/.exec(text) ?? [];
  if (first === '' || (open !== '' && as === 'after')) return undefined;
  const seq = Math.min(Number(first), Number.MAX_SAFE_INTEGER - 1);
  // A line's own id ends in 0; without an end, a range ends behind everything of that number.
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
