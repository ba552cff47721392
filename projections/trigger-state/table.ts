/** Contains at most one row. Without a row, triggers were never paused. */
export interface TriggerStateTable {
  readonly singleton: true;
  readonly stream_version: number;
  readonly paused: boolean;
  readonly since: Date;
  readonly changed_by: string;
}
