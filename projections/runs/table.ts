import type { EnvironmentVariables } from '#domain/script/environment.ts';
import type { RunLimits, StartMode } from '#domain/script/settings.ts';
import type { Failure, RunStatus, Trigger } from '#domain/run/run.ts';
import type { Columns } from '../columns.ts';

export interface RunsTable {
  readonly run_id: string;
  readonly stream_version: number;
  readonly script_id: string;
  readonly script_name: string;
  readonly group_id: string;
  readonly script_version: number;
  readonly status: RunStatus;
  /** The final status, which has an index for lists. Null until the run has ended. */
  readonly ended_as: RunStatus | null;
  /** Whether the run must be released before it can start. It is not released before `available_at`. */
  readonly waiting: boolean;
  readonly available_at: Date;
  readonly stop_requested: boolean;
  readonly trigger_type: Trigger['type'];
  readonly trigger: Trigger;
  readonly requested_by: string;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  readonly environment: EnvironmentVariables;
  readonly python: string | null;
  readonly start_mode: StartMode;
  readonly listen_ports: readonly number[];
  readonly resolution: string | null;
  /** The commit that the script version comes from. Null if the script comes from no repository. */
  readonly commit: { readonly hash: string; readonly url: string | null } | null;
  readonly params_sha256: string | null;
  readonly attempt: number;
  readonly parent_run_id: string | null;
  readonly queued_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly duration_ms: number | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly failure_reason: Failure | null;
  readonly runtime_id: string | null;
  readonly fence: number | null;
  readonly layers: readonly string[] | null;
  readonly cpu_seconds: number | null;
  readonly max_memory_bytes: number | null;
  readonly max_threads: number | null;
  readonly log_lines: number;
  readonly log_bytes: number;
  readonly log_truncated: boolean;
  /** Equal for errors with the same cause. Null if the run has no error. */
  readonly error_fingerprint: string | null;
}

export const runColumns: Columns<RunsTable> = {
  run_id: 'uuid',
  stream_version: 'bigint',
  script_id: 'uuid',
  script_name: 'text',
  group_id: 'uuid',
  script_version: 'integer',
  status: 'text',
  ended_as: 'text',
  waiting: 'boolean',
  available_at: 'timestamptz',
  stop_requested: 'boolean',
  trigger_type: 'text',
  trigger: 'jsonb',
  requested_by: 'text',
  entrypoint: 'text',
  limits: 'jsonb',
  environment: 'jsonb',
  python: 'text',
  start_mode: 'text',
  listen_ports: 'jsonb',
  resolution: 'text',
  commit: 'jsonb',
  params_sha256: 'text',
  attempt: 'integer',
  parent_run_id: 'uuid',
  queued_at: 'timestamptz',
  started_at: 'timestamptz',
  finished_at: 'timestamptz',
  duration_ms: 'bigint',
  exit_code: 'integer',
  signal: 'text',
  failure_reason: 'text',
  runtime_id: 'text',
  fence: 'bigint',
  layers: 'jsonb',
  cpu_seconds: 'double precision',
  max_memory_bytes: 'bigint',
  max_threads: 'integer',
  log_lines: 'bigint',
  log_bytes: 'bigint',
  log_truncated: 'boolean',
  error_fingerprint: 'text',
};
