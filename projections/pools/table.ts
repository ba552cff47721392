import type { Columns } from '../columns.ts';

export interface PoolsTable {
  readonly pool_id: string;
  readonly stream_version: number;
  readonly name: string;
  readonly max_runs: number;
}

export const poolColumns: Columns<PoolsTable> = {
  pool_id: 'uuid',
  stream_version: 'bigint',
  name: 'text',
  max_runs: 'integer',
};
