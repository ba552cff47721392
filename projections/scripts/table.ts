import type { EnvironmentVariables } from '#domain/script/environment.ts';
import type { Expectation } from '#domain/script/expectations.ts';
import type {
  ParametersSchema,
  Protection,
  ResidentSettings,
  RetryPolicy,
  RunLimits,
  StartMode,
} from '#domain/script/settings.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { Columns } from '../columns.ts';

export interface ScriptsTable {
  readonly script_id: string;
  readonly stream_version: number;
  readonly name: string;
  readonly description: string;
  readonly group_id: string;
  readonly enabled: boolean;
  readonly deleted: boolean;
  readonly max_concurrent_runs: number;
  readonly storage_quota_bytes: number;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  readonly tags: readonly string[];
  readonly retry: RetryPolicy;
  readonly keep_alive: boolean;
  readonly environment: EnvironmentVariables;
  readonly python: string | null;
  readonly start_mode: StartMode;
  readonly resident: ResidentSettings;
  readonly merge_stderr: boolean;
  readonly listen_ports: readonly number[];
  readonly runs_on: readonly string[];
  readonly pools: readonly string[];
  readonly protected: Protection;
  readonly expectations: readonly Expectation[];
  /** When the expectations were set, or when the script was last enabled or restored, whichever is later. `null` if
   *  there are no expectations. */
  readonly expectations_since: Date | null;
  readonly parameters_schema: ParametersSchema | null;
  readonly resolution: string | null;
  /** Null if the script comes from no repository. */
  readonly source: ScriptSource | null;
  /** Whether the purge of a deleted script has started or finished. Null if no purge was requested. */
  readonly purge: 'started' | 'finished' | null;
  readonly version: number;
  readonly created_at: Date;
  readonly created_by: string;
  readonly updated_at: Date;
  readonly updated_by: string;
}

export const scriptColumns: Columns<ScriptsTable> = {
  script_id: 'uuid',
  stream_version: 'bigint',
  name: 'text',
  description: 'text',
  group_id: 'uuid',
  enabled: 'boolean',
  deleted: 'boolean',
  max_concurrent_runs: 'integer',
  storage_quota_bytes: 'bigint',
  entrypoint: 'text',
  limits: 'jsonb',
  tags: 'jsonb',
  retry: 'jsonb',
  keep_alive: 'boolean',
  environment: 'jsonb',
  python: 'text',
  start_mode: 'text',
  resident: 'jsonb',
  merge_stderr: 'boolean',
  listen_ports: 'jsonb',
  runs_on: 'jsonb',
  pools: 'jsonb',
  protected: 'jsonb',
  expectations: 'jsonb',
  expectations_since: 'timestamptz',
  parameters_schema: 'jsonb',
  resolution: 'text',
  source: 'jsonb',
  purge: 'text',
  version: 'integer',
  created_at: 'timestamptz',
  created_by: 'text',
  updated_at: 'timestamptz',
  updated_by: 'text',
};

/** One version of one file. `version` is the script version in which the file was saved or deleted. The hash is null
 *  if the file was deleted. */
export interface ScriptFilesTable {
  readonly script_id: string;
  readonly path: string;
  readonly version: number;
  readonly sha256: string | null;
  readonly size_bytes: number;
  readonly saved_at: Date;
}
