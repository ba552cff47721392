import { given } from '#domain/testing/given.ts';
import { createGroup } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import { groupAggregate } from './decide.ts';
import type { GroupEvent } from './events.ts';
import { defaultGroupId, seededGroups } from './seed.ts';

const { type: _, ...data } = createGroup();
const created: GroupEvent = { type: 'GroupCreated', data };

describe('given no group', () => {
  test('when it is created, then it is there', () => {
    given(groupAggregate).when(createGroup()).thenRecords(created);
  });
});

describe('given a group', () => {
  test('when it is created again, then nothing is recorded', () => {
    given(groupAggregate, created)
      .when(createGroup({ name: 'Other' }))
      .thenRecordsNothing();
  });
});

describe('the groups of a new installation', () => {
  test('are those of the specification, and "custom" is the default', () => {
    expect(seededGroups.map((group) => group.name)).toEqual([
      'monitoring',
      'bots',
      'ETL',
      'custom',
    ]);
    expect(seededGroups.find((group) => group.groupId === defaultGroupId)?.name).toBe('custom');
  });

  test('have ids of their own and colours as they are written', () => {
    expect(new Set(seededGroups.map((group) => group.groupId)).size).toBe(seededGroups.length);
    for (const { color } of seededGroups) expect(color).toMatch(/^#[0-9a-f]{6}$/);
  });
});
