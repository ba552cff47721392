/** The height of a log line in pixels. All lines have the same height, so that scroll positions can be calculated. */
export const rowHeightPx = 20;

/** Browsers limit the height of an element (Firefox to about 17.9 million pixels). For taller lists, the scroll
 *  position is scaled. */
const maxHeightPx = 10_000_000;

/** The number of additional rows drawn above and below the viewport. */
const overscan = 12;

export interface Geometry {
  /** The height of the whole list. */
  heightPx: number;
  first: number;
  count: number;
  /** The position of the first drawn row, from the top of the list. */
  topPx: number;
}

/** Returns the rows to draw and their position when a list of `rowCount` rows is scrolled to `scrollTopPx`. */
export function geometry(rowCount: number, scrollTopPx: number, viewportPx: number): Geometry {
  const visible = Math.ceil(viewportPx / rowHeightPx) + 1;
  const fullPx = rowCount * rowHeightPx;
  const heightPx = Math.min(fullPx, maxHeightPx);
  const top = topRow(rowCount, scrollTopPx, viewportPx);
  const first = Math.max(0, Math.floor(top) - overscan);
  const count = Math.min(rowCount - first, visible + 2 * overscan);
  return { heightPx, first, count, topPx: scrollTopPx - (top - first) * rowHeightPx };
}

/** Like `geometry`, for rows that wrap to any height. The first visible row is calculated as if every row were one line
 *  high. The browser lays out the rows below it. At the end of the list, `fromEnd` is set and the last rows are aligned
 *  to the bottom. */
export function wrappedGeometry(
  rowCount: number,
  scrollTopPx: number,
  viewportPx: number,
): Geometry & { fromEnd: boolean } {
  const visible = Math.ceil(viewportPx / rowHeightPx) + 1;
  // Makes the list tall enough that every row except the last can be the first visible row.
  const tall = rowCount + Math.max(0, viewportPx / rowHeightPx - 1);
  const { heightPx } = geometry(tall, scrollTopPx, viewportPx);
  const fromEnd = scrollTopPx >= heightPx - viewportPx - rowHeightPx;
  const top = Math.floor(topRow(tall, scrollTopPx, viewportPx));
  const first = Math.max(0, fromEnd ? rowCount - visible : top);
  const count = Math.max(0, Math.min(rowCount - first, visible));
  return { heightPx, first, count, topPx: scrollTopPx, fromEnd };
}

/** Returns the first visible row, including the fraction that is scrolled out of view. */
function topRow(rowCount: number, scrollTopPx: number, viewportPx: number): number {
  const fullPx = rowCount * rowHeightPx;
  if (fullPx <= maxHeightPx) return scrollTopPx / rowHeightPx;
  const share = scrollTopPx / (maxHeightPx - viewportPx);
  return Math.min(1, share) * (rowCount - viewportPx / rowHeightPx);
}

/** Returns the scroll position that places `row` one third below the top of the viewport. */
export function scrollTopOf(row: number, rowCount: number, viewportPx: number): number {
  const fullPx = rowCount * rowHeightPx;
  const wantedPx = Math.max(0, row * rowHeightPx - viewportPx / 3);
  if (fullPx <= maxHeightPx) return wantedPx;
  const share = wantedPx / (fullPx - viewportPx);
  return share * (maxHeightPx - viewportPx);
}
