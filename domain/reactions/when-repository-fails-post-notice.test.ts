import type { Recorded } from '#domain/aggregates.ts';
import { noticeId, repositoryId } from '#domain/testing/ids.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { expect, test } from 'vitest';
import { whenRepositoryFailsPostNotice } from './when-repository-fails-post-notice.ts';

const about = { repositoryId: repositoryId(), name: 'Jobs' };

async function reactTo(change: object) {
  const [any] = await recordAll(beginning);
  const event = { ...any, ...change } as Recorded;
  return await whenRepositoryFailsPostNotice.react(event, reactionReads(), () => noticeId());
}

test('a repository causes a notice when its syncs start to fail', async () => {
  const data = { ...about, problem: 'The host is not reachable.' };
  expect(await reactTo({ type: 'RepositoryFailureStarted', data })).toEqual([
    {
      type: 'PostNotice',
      noticeId: noticeId(),
      scriptId: null,
      runId: null,
      on: 'repository_sync_failed',
      level: 'error',
      message: 'The repository "Jobs" could not be synced: The host is not reachable.',
    },
  ]);
});

test('a repository causes a notice when a sync succeeds again', async () => {
  const data = { ...about, reason: 'synced' };
  expect(await reactTo({ type: 'RepositoryFailureEnded', data })).toMatchObject([
    { level: 'info', message: 'The repository "Jobs" is synced again.' },
  ]);
});
