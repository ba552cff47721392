import type { Columns } from '../columns.ts';

/** The place of a run in the queue. Claims write `owner`, `lease_until` and `leased_at`. Postgres assigns
 *  `queue_position`, and computes `not_before` from `delayed` and `available_at`. */
export interface RunQueueTable {
  readonly run_id: string;
  readonly stream_version: number;
  readonly script_id: string;
  /** The script's group when the run was queued. */
  readonly group_id: string;
  readonly priority: number;
  /** Labels that a runtime must have to claim the run. */
  readonly runs_on: readonly string[];
  /** Pools in which the run occupies a slot. */
  readonly pools: readonly string[];
  readonly available_at: Date;
  /** Whether the run must not start before `available_at`. */
  readonly delayed: boolean;
  readonly attempt: number;
  /** Whether the run is waiting. Runtimes cannot claim a waiting run until the scheduler releases it. */
  readonly waiting: boolean;
  /** Whether the run is waiting for an approval. */
  readonly approval_pending: boolean;
  /** When the run expires in the queue. A pending approval suspends the expiry. `null` means never. */
  readonly expires_at: Date | null;
  readonly fence: number | null;
  readonly stop_requested: boolean;
}

export const runQueueColumns: Columns<RunQueueTable> = {
  run_id: 'uuid',
  stream_version: 'bigint',
  script_id: 'uuid',
  group_id: 'uuid',
  priority: 'integer',
  runs_on: 'jsonb',
  pools: 'jsonb',
  available_at: 'timestamptz',
  delayed: 'boolean',
  attempt: 'integer',
  waiting: 'boolean',
  approval_pending: 'boolean',
  expires_at: 'timestamptz',
  fence: 'bigint',
  stop_requested: 'boolean',
};
