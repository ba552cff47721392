/** The content of a chart, independent of the drawing library. */
export interface ChartModel {
  /** Lines for measurements, stacked bars for counts, points for single items on a logarithmic axis. */
  kind: 'lines' | 'bars' | 'points';
  series: Series[];
  /** Start and end, in the unit of the points; absent: the range of the points. */
  range?: [number, number];
  /** Times with a label; absent: round numbers. */
  ticks?: number[];
  /** Formats a time for the axis. */
  tickOf: (x: number) => string;
  /** Formats the time of a single point. */
  titleOf: (x: number) => string;
  valueOf: (y: number) => string;
}

export interface Series {
  name: string;
  /** A custom property of the page, such as `--primary`. */
  color: string;
  /** Time and value; null for a gap. */
  points: [number, number | null][];
  /** The shape of points, so that series differ without colors. */
  shape?: 'circle' | 'crossRot' | 'rect';
  /** The name and the page of each point, for `points`. */
  items?: { label: string; href: string }[];
}
