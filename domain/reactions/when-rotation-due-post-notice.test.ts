import type { Recorded } from '#domain/aggregates.ts';
import { groupId, noticeId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { expect, test } from 'vitest';
import { whenRotationDuePostNotice } from './when-rotation-due-post-notice.ts';

const value = { name: 'TOKEN', version: 1, ownerName: 'Report', dueAt: '2026-04-01T00:00:00.000Z' };

async function reactTo(change: object) {
  const [any] = await recordAll(beginning);
  const event = { ...any, ...change } as Recorded;
  return await whenRotationDuePostNotice.react(event, reactionReads(), () => noticeId());
}

test('a script secret that is due for rotation causes a notice', async () => {
  const data = { scriptId: scriptId(), groupId: null, ...value };
  expect(await reactTo({ type: 'SecretRotationDue', data })).toEqual([
    {
      type: 'PostNotice',
      noticeId: noticeId(),
      scriptId: scriptId(),
      runId: null,
      on: 'secret_rotation_due',
      level: 'warning',
      message: 'The secret "TOKEN" of script "Report" has been due for rotation since 2026-04-01.',
    },
  ]);
});

test('a new value for a group secret causes a notice for the group', async () => {
  const data = { scriptId: null, groupId: groupId(), ...value, reason: 'replaced' };
  expect(await reactTo({ type: 'SecretRotationCleared', data })).toMatchObject([
    { scriptId: null, groupId: groupId(), level: 'info' },
  ]);
});
