import type { PoolChanged, PoolCreated, PoolDeleted } from './events.ts';

export type CreatePool = PoolCreated['data'] & { readonly type: 'CreatePool' };
export type ChangePool = PoolChanged['data'] & { readonly type: 'ChangePool' };

export type DeletePool = PoolDeleted['data'] & {
  readonly type: 'DeletePool';
  readonly name: string;
};

export type PoolCommand = CreatePool | ChangePool | DeletePool;
