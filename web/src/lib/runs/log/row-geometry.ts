/** Height of one log line in pixels; all are the same, so that a row's place is a product. */
export const rowHeightPx = 20;

/** Browsers bound the height of an element (Firefox at about 17.9 million pixels). Above this,
 *  the scroll bar stands for the position in proportion. */
const maxHeightPx = 10_000_000;

/** Rows drawn above and below what is visible. */
const overscan = 12;

export interface Geometry {
  /** Height of the whole list. */
  heightPx: number;
  first: number;
  count: number;
  /** Where the first drawn row is put. */
  topPx: number;
}

/** Which rows to draw, and where, when `rowCount` rows are scrolled to `scrollTopPx`. */
export function geometry(rowCount: number, scrollTopPx: number, viewportPx: number): Geometry {
  const visible = Math.ceil(viewportPx / rowHeightPx) + 1;
  const fullPx = rowCount * rowHeightPx;
  const heightPx = Math.min(fullPx, maxHeightPx);
  const top = topRow(rowCount, scrollTopPx, viewportPx);
  const first = Math.max(0, Math.floor(top) - overscan);
  const count = Math.min(rowCount - first, visible + 2 * overscan);
  return { heightPx, first, count, topPx: scrollTopPx - (top - first) * rowHeightPx };
}

/** The same for rows that are as high as their text: the row at the upper edge follows from the scroll position
 *  as if all were one line high, and those beneath it are drawn as they come. At the end the last ones are put
 *  to the lower edge, where `fromEnd` is set. */
export function wrappedGeometry(
  rowCount: number,
  scrollTopPx: number,
  viewportPx: number,
): Geometry & { fromEnd: boolean } {
  const visible = Math.ceil(viewportPx / rowHeightPx) + 1;
  // So far that each row but the last can be the one at the upper edge.
  const tall = rowCount + Math.max(0, viewportPx / rowHeightPx - 1);
  const { heightPx } = geometry(tall, scrollTopPx, viewportPx);
  const fromEnd = scrollTopPx >= heightPx - viewportPx - rowHeightPx;
  const top = Math.floor(topRow(tall, scrollTopPx, viewportPx));
  const first = Math.max(0, fromEnd ? rowCount - visible : top);
  const count = Math.max(0, Math.min(rowCount - first, visible));
  return { heightPx, first, count, topPx: scrollTopPx, fromEnd };
}

/** The row at the upper edge, with its fraction. */
function topRow(rowCount: number, scrollTopPx: number, viewportPx: number): number {
  const fullPx = rowCount * rowHeightPx;
  if (fullPx <= maxHeightPx) return scrollTopPx / rowHeightPx;
  const share = scrollTopPx / (maxHeightPx - viewportPx);
  return Math.min(1, share) * (rowCount - viewportPx / rowHeightPx);
}

/** The scroll position that puts `row` at a third of the viewport. */
export function scrollTopOf(row: number, rowCount: number, viewportPx: number): number {
  const fullPx = rowCount * rowHeightPx;
  const wantedPx = Math.max(0, row * rowHeightPx - viewportPx / 3);
  if (fullPx <= maxHeightPx) return wantedPx;
  const share = wantedPx / (fullPx - viewportPx);
  return share * (maxHeightPx - viewportPx);
}
