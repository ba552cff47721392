/** Reads pools, the scripts that use them, and the runs that occupy their slots. */
import type { PoolFacts } from '#domain/kernel/aggregate.ts';
import type { PoolId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

/** An SQL subquery for the number of runs that occupy a slot of pool `p`. These are running runs and runs that were
 *  released to start. */
export const activeInPool = `(SELECT count(*)::integer FROM run_queue a WHERE NOT a.waiting AND a.pools <> '[]' AND a.pools ? p.name)`;

export interface PoolView {
  readonly pool_id: string;
  readonly name: string;
  readonly max_runs: number;
  readonly active_runs: number;
  readonly waiting_runs: number;
  /** Whether any script uses the pool. Deleted scripts count. */
  readonly in_use: boolean;
}

const isUsed = `EXISTS (SELECT FROM scripts s WHERE s.pools ? p.name AND s.purge IS NULL)`;

const list = statement<PoolView>(`
  SELECT p.pool_id, p.name, p.max_runs, ${activeInPool} AS active_runs, ${isUsed} AS in_use,
    (SELECT count(*)::integer FROM run_queue w WHERE w.waiting AND NOT w.approval_pending AND w.pools <> '[]' AND w.pools ? p.name) AS waiting_runs
  FROM pools p WHERE $1::uuid IS NULL OR p.pool_id = $1 ORDER BY p.name COLLATE "C"`);

/** Returns all pools, sorted by name. */
export async function listPools(db: ReadModels): Promise<readonly PoolView[]> {
  return await list(db, null);
}

export async function findPool(db: ReadModels, poolId: PoolId): Promise<PoolView | undefined> {
  return (await list(db, poolId))[0];
}

const factsOf = statement<PoolFacts>(`
  SELECT p.max_runs AS limit, ${activeInPool} AS active FROM pools p WHERE p.name = $1`);

/** Returns the limit and the active runs of a pool, or `undefined` if no pool has this name. */
export async function poolFacts(db: ReadModels, name: string): Promise<PoolFacts | undefined> {
  return (await factsOf(db, name))[0];
}

const used = statement<{ readonly used: boolean }>(`
  SELECT EXISTS (SELECT FROM scripts s WHERE s.pools ? $1 AND s.purge IS NULL) AS used`);

/** Whether any script uses the pool. Deleted scripts count. */
export async function isPoolInUse(db: ReadModels, name: string): Promise<boolean> {
  return (await used(db, name))[0]?.used ?? false;
}
