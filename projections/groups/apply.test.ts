import { groupId } from '#domain/testing/ids.ts';
import { recordAll } from '#domain/testing/recorded.ts';
import { createGroup } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, type TestReads } from '../testing/delivery.ts';
import { groupsProjection } from './apply.ts';
import { listGroups } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
  const numbers = [3, 1, 2];
  const events = await recordAll(
    numbers.map((one) => createGroup({ groupId: groupId(one), name: `Group ${one}` })),
  );
  await groupsProjection.apply(reads.db, events);
});
afterAll(() => reads.close());

describe('several groups', () => {
  test('have one row each', async () => {
    expect(await listGroups(reads.db, [groupId(2)], undefined, 10)).toEqual([
      {
        group_id: groupId(2),
        stream_version: 1,
        name: 'Group 2',
        color: '#112233',
        icon: 'folder',
      },
    ]);
  });

  test('are listed by ID, page by page', async () => {
    const page = async (after?: number) =>
      (await listGroups(reads.db, null, after === undefined ? undefined : groupId(after), 2)).map(
        (group) => group.group_id,
      );
    expect(await page()).toEqual([groupId(1), groupId(2)]);
    expect(await page(2)).toEqual([groupId(3)]);
    expect(await page(3)).toEqual([]);
  });

  test('are hidden from a user without groups', async () => {
    expect(await listGroups(reads.db, [], undefined, 10)).toEqual([]);
  });
});
