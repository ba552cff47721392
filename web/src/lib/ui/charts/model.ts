/** What a chart shows, in words that know nothing of how it is drawn. */
export interface ChartModel {
  /** Lines for what is measured, stacked bars for what is counted. */
  kind: 'lines' | 'bars';
  series: Series[];
  /** From and to, in the unit of the points; absent: what the points need. */
  range?: [number, number];
  /** Places on the time axis that have a text; absent: round numbers. */
  ticks?: number[];
  /** A short text for a place on the time axis. */
  tickOf: (x: number) => string;
  /** A longer one for a single point. */
  titleOf: (x: number) => string;
  valueOf: (y: number) => string;
}

export interface Series {
  name: string;
  /** A custom property of the page, such as `--primary`. */
  color: string;
  /** Place on the time axis and value; null where there is none. */
  points: [number, number | null][];
}
