/** The runtimes that users have drained or resumed. */
export interface RuntimeDrainsTable {
  readonly runtime_id: string;
  readonly stream_version: number;
  readonly drained: boolean;
  readonly changed_at: Date;
  readonly changed_by: string;
}
