/** A time range of a chart that the user selects by keys. */

export interface TimeSelection {
  readonly from: number;
  readonly to: number;
}

/** One key press moves by this fraction of the chart. */
const parts = 24;

/** The selection after an arrow key: it moves, or with Shift only its end. Without a selection, the latest part is
 *  selected. It stays within the range and has at least one part.
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
