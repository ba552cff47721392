import { given } from '#domain/testing/given.ts';
import { groupId } from '#domain/testing/ids.ts';
import { createGroup } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import { groupAggregate } from './decide.ts';
import type { GroupEvent } from './events.ts';
import { defaultGroupId, seededGroups } from './seed.ts';

const facts = { inUse: false, nameTaken: false };
const { type: _, ...data } = createGroup();
const created: GroupEvent = { type: 'GroupCreated', data };

describe('a group that does not exist yet', () => {
  test('can be created', () => {
    given(groupAggregate).when(createGroup(), facts).thenRecords(created);
  });

  test('cannot be created if another group has its name', () => {
    const taken = { ...facts, nameTaken: true };
    given(groupAggregate).when(createGroup(), taken).thenRefuses('already_exists');
    given(groupAggregate, created)
      .when(change({ name: 'Other' }), taken)
      .thenRefuses('already_exists');
    given(groupAggregate, created).when(createGroup(), taken).thenRecordsNothing();
  });
});

const change = (changes: object) => ({ type: 'ChangeGroup', groupId: groupId(), changes }) as const;
const remove = { type: 'DeleteGroup', groupId: groupId() } as const;
const deleted: GroupEvent = { type: 'GroupDeleted', data: { groupId: groupId() } };

describe('an existing group', () => {
  test('records a repeated settings change only once', () => {
    const changed: GroupEvent = {
      type: 'GroupChanged',
      data: { groupId: groupId(), color: '#abcdef' },
    };
    const command = change({ name: data.name, color: '#abcdef' });
    given(groupAggregate, created).when(command, facts).thenRecords(changed);
    given(groupAggregate, created, changed).when(command, facts).thenRecordsNothing();
  });

  test('can be deleted unless it contains scripts, and records only one deletion', () => {
    given(groupAggregate, created)
      .when(remove, { ...facts, inUse: true })
      .thenRefuses('group_in_use');
    given(groupAggregate, created).when(remove, facts).thenRecords(deleted);
    given(groupAggregate, created, deleted).when(remove, facts).thenRecordsNothing();
    given(groupAggregate, created, deleted).when(change({}), facts).thenRefuses('not_found');
  });

  test('cannot be deleted if it is the default group', () => {
    const custom = { ...data, groupId: defaultGroupId };
    given(groupAggregate, { type: 'GroupCreated', data: custom })
      .when({ ...remove, groupId: defaultGroupId }, facts)
      .thenRefuses('group_in_use');
  });

  test('records nothing when created again', () => {
    given(groupAggregate, created)
      .when(createGroup({ name: 'Other' }), facts)
      .thenRecordsNothing();
  });
});

describe('the groups of a new installation', () => {
  test('match the specification and include the default group "custom"', () => {
    expect(seededGroups.map((group) => group.name)).toEqual([
      'monitoring',
      'bots',
      'ETL',
      'custom',
    ]);
    expect(seededGroups.find((group) => group.groupId === defaultGroupId)?.name).toBe('custom');
  });

  test('have distinct IDs and normalized colors', () => {
    expect(new Set(seededGroups.map((group) => group.groupId)).size).toBe(seededGroups.length);
    for (const { color } of seededGroups) expect(color).toMatch(/^#[0-9a-f]{6}$/);
  });
});
