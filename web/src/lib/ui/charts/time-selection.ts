/** A time range of a chart that the user selects by keys. */

export interface TimeSelection {
  readonly from: number;
  readonly to: number;
}

/** A key moves by one of so many parts of the whole. */
const parts = 24;

/** What an arrow key makes of a stretch: it moves, with Shift its end alone does. Where there is none yet, the latest
 *  part is chosen. It stays within the range, and has one part at least.
 *  @param by -1 to the left, 1 to the right */
export function moveSelection(
  stretch: TimeSelection | null,
  by: -1 | 1,
  endAlone: boolean,
  [least, most]: readonly [number, number],
): TimeSelection {
  const part = (most - least) / parts;
  if (stretch === null) return { from: most - part, to: most };
  const { from, to } = stretch;
  if (endAlone) return { from, to: Math.min(most, Math.max(from + part, to + by * part)) };
  const way = Math.min(most - to, Math.max(least - from, by * part));
  return { from: from + way, to: to + way };
}
