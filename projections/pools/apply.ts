import type { Recorded } from '#domain/aggregates.ts';
import type { PoolEvent } from '#domain/pool/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { poolColumns, type PoolsTable } from './table.ts';

/** Builds the pools with their limits. */
export const poolsProjection: Projection = rowProjection<PoolsTable, Recorded<PoolEvent>>({
  name: 'pools',
  version: 1,
  table: 'pools',
  key: 'pool_id',
  columns: poolColumns,
  handles: ['PoolCreated', 'PoolChanged', 'PoolDeleted'],
  keyOf: (event) => event.data.poolId,
  step: (row, event) => {
    switch (event.type) {
      case 'PoolCreated': {
        const { poolId, name, limit } = event.data;
        return { pool_id: poolId, name, max_runs: limit };
      }
      case 'PoolChanged':
        return row && { ...row, max_runs: event.data.limit };
      case 'PoolDeleted':
        return undefined;
    }
  },
});
