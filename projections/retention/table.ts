/** Contains at most one row. Without a row, no data is removed. */
export interface RetentionTable {
  readonly singleton: true;
  readonly stream_version: number;
  readonly logs_days: number | null;
  readonly samples_days: number | null;
  readonly artifacts_days: number | null;
  readonly payloads_days: number | null;
  readonly changed_at: Date;
  readonly changed_by: string;
}
