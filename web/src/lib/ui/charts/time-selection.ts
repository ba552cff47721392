/** Selects a time range in a chart by keyboard. */

export interface TimeSelection {
  readonly from: number;
  readonly to: number;
}

/** One key press moves the selection by the chart's width divided by this number. */
const parts = 24;

/** Returns the selection after an arrow key. The key moves the whole selection, or only its end if Shift is held. If
 *  nothing is selected yet, the last step of the chart is selected. The selection stays within the chart and is at
 *  least one step long.
 *  @param by -1 moves left, 1 moves right */
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
