/** Height of one log line in pixels. All lines have the same height, so that positions can be computed. */
export const rowHeightPx = 20;

/** Browsers limit the height of an element (Firefox to about 17.9 million pixels). Above this height, the scroll bar
 *  position is proportional. */
const maxHeightPx = 10_000_000;

/** Additional rows drawn above and below the viewport. */
const overscan = 12;

export interface Geometry {
  /** Height of the whole list. */
  heightPx: number;
  first: number;
  count: number;
  /** The position of the first drawn row. */
  topPx: number;
}

/** The rows to draw and their position when `rowCount` rows are scrolled to `scrollTopPx`. */
export function geometry(rowCount: number, scrollTopPx: number, viewportPx: number): Geometry {
  const visible = Math.ceil(viewportPx / rowHeightPx) + 1;
  const fullPx = rowCount * rowHeightPx;
  const heightPx = Math.min(fullPx, maxHeightPx);
  const top = topRow(rowCount, scrollTopPx, viewportPx);
  const first = Math.max(0, Math.floor(top) - overscan);
  const count = Math.min(rowCount - first, visible + 2 * overscan);
  return { heightPx, first, count, topPx: scrollTopPx - (top - first) * rowHeightPx };
}

/** Like `geometry`, for wrapped rows of any height. The first visible row is computed as if all rows were one line
 *  high, and the browser lays out the following rows. At the end, `fromEnd` is set, and the last rows are aligned to
 *  the lower edge. */
export function wrappedGeometry(
  rowCount: number,
  scrollTopPx: number,
  viewportPx: number,
): Geometry & { fromEnd: boolean } {
  const visible = Math.ceil(viewportPx / rowHeightPx) + 1;
  // Far enough that every row except the last can be the first visible row.
  const tall = rowCount + Math.max(0, viewportPx / rowHeightPx - 1);
  const { heightPx } = geometry(tall, scrollTopPx, viewportPx);
  const fromEnd = scrollTopPx >= heightPx - viewportPx - rowHeightPx;
  const top = Math.floor(topRow(tall, scrollTopPx, viewportPx));
  const first = Math.max(0, fromEnd ? rowCount - visible : top);
  const count = Math.max(0, Math.min(rowCount - first, visible));
  return { heightPx, first, count, topPx: scrollTopPx, fromEnd };
}

/** The first visible row, with its fraction. */
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
