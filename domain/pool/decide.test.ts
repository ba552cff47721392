import { given } from '#domain/testing/given.ts';
import { poolId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import { poolAggregate } from './decide.ts';
import type { PoolEvent } from './events.ts';

const id = { poolId: poolId() };
const create = { type: 'CreatePool', ...id, name: 'crm-api', limit: 3 } as const;
const created: PoolEvent = { type: 'PoolCreated', data: { ...id, name: 'crm-api', limit: 3 } };
const deleted: PoolEvent = { type: 'PoolDeleted', data: id };
const remove = { type: 'DeletePool', ...id, name: 'crm-api' } as const;
const free = { named: undefined, inUse: false };
const taken = { named: { limit: 1, active: 0 }, inUse: true };

describe('a new pool', () => {
  test('has a unique name and a limit', () => {
    given(poolAggregate).when(create, free).thenRecords(created);
    given(poolAggregate, created).when(create, taken).thenRecordsNothing();
    given(poolAggregate).when(create, taken).thenRefuses('already_exists');
    given(poolAggregate)
      .when({ ...create, name: 'crm api' }, free)
      .thenRefuses('validation_failed');
    given(poolAggregate)
      .when({ ...create, limit: -1 }, free)
      .thenRefuses('validation_failed');
  });
});

describe('a pool', () => {
  test('records a repeated limit change only once, even if the limit is 0', () => {
    const change = { type: 'ChangePool', ...id, limit: 0 } as const;
    const changed: PoolEvent = { type: 'PoolChanged', data: { ...id, limit: 0 } };
    given(poolAggregate, created).when(change, free).thenRecords(changed);
    given(poolAggregate, created, changed).when(change, free).thenRecordsNothing();
    given(poolAggregate, created, deleted).when(change, free).thenRefuses('not_found');
  });

  test('can be deleted unless scripts use it, and records only one deletion', () => {
    given(poolAggregate, created).when(remove, free).thenRecords(deleted);
    given(poolAggregate, created, deleted).when(remove, free).thenRecordsNothing();
    given(poolAggregate, created).when(remove, taken).thenRefuses('pool_in_use');
  });
});
