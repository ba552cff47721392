/** The content of a chart, independent of the chart library. */
export interface ChartModel {
  /** Lines show measurements, stacked bars show counts, and points show single items on a logarithmic axis. */
  kind: 'lines' | 'bars' | 'points';
  series: Series[];
  /** The start and end of the axis, in the unit of the points. By default, the range of the points. */
  range?: [number, number];
  /** The times to label. By default, round numbers. */
  ticks?: number[];
  /** Formats a time for an axis label. */
  tickOf: (x: number) => string;
  /** Formats the time of a point for its tooltip. */
  titleOf: (x: number) => string;
  valueOf: (y: number) => string;
}

export interface Series {
  name: string;
  /** The name of a CSS custom property, such as `--primary`. */
  color: string;
  /** Pairs of time and value; a null value leaves a gap. */
  points: [number, number | null][];
  /** The shape of the points, so that series are distinguishable without color. */
  shape?: 'circle' | 'crossRot' | 'rect';
  /** The label and the URL of each point. Only for charts of kind `points`. */
  items?: { label: string; href: string }[];
}
