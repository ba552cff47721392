/** Events of a pool, in streams `pool-<id>`. Permanent: never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { PoolId } from '#domain/kernel/ids.ts';

export type PoolCreated = DomainEvent<
  'PoolCreated',
  {
    readonly poolId: PoolId;
    /** Scripts and runs refer to the pool by its name, which never changes. */
    readonly name: string;
    /** Maximum number of runs that are running or ready to start. */
    readonly limit: number;
  }
>;

export type PoolChanged = DomainEvent<
  'PoolChanged',
  { readonly poolId: PoolId; readonly limit: number }
>;

export type PoolDeleted = DomainEvent<'PoolDeleted', { readonly poolId: PoolId }>;

export type PoolEvent = PoolCreated | PoolChanged | PoolDeleted;
