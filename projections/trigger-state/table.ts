/** One row at most; without one nothing was ever paused. */
export interface TriggerStateTable {
  readonly singleton: true;
  readonly stream_version: number;
  readonly paused: boolean;
  readonly since: Date;
  readonly changed_by: string;
}
