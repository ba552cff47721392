import type { ChainCondition } from '#domain/chain/chain.ts';
import type { WhenBusy } from '#domain/run/run.ts';
import type { Columns } from '../columns.ts';

export interface ChainsTable {
  readonly chain_id: string;
  readonly stream_version: number;
  readonly source_script_id: string;
  readonly target_script_id: string;
  readonly condition: ChainCondition;
  readonly enabled: boolean;
  readonly when_busy: WhenBusy;
  readonly params_sha256: string | null;
  /** The time when the chain was created or last enabled. */
  readonly active_since: Date;
  readonly created_at: Date;
  readonly created_by: string;
  readonly updated_at: Date;
  readonly updated_by: string;
  readonly deleted: boolean;
}

export const chainColumns: Columns<ChainsTable> = {
  chain_id: 'uuid',
  stream_version: 'bigint',
  source_script_id: 'uuid',
  target_script_id: 'uuid',
  condition: 'text',
  enabled: 'boolean',
  when_busy: 'text',
  params_sha256: 'text',
  active_since: 'timestamptz',
  created_at: 'timestamptz',
  created_by: 'text',
  updated_at: 'timestamptz',
  updated_by: 'text',
  deleted: 'boolean',
};

/** How a chain handled a finished run. Contains either the started run, or the reason why no run was started. */
export interface ChainAnswersTable {
  readonly chain_id: string;
  readonly source_run_id: string;
  readonly time: Date;
  readonly run_id: string | null;
  readonly reason: string | null;
}
