import type { Recorded } from '#domain/aggregates.ts';
import { noticeId, runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { expect, test } from 'vitest';
import { whenExpectationChangedPostNotice } from './when-expectation-changed-post-notice.ts';

async function reactTo(change: object) {
  const [any] = await recordAll(beginning);
  const event = { ...any, ...change } as Recorded;
  return await whenExpectationChangedPostNotice.react(event, reactionReads(), () => noticeId());
}

const about = { scriptId: scriptId(), on: 'run_too_long', key: 'longer_than 2', runId: runId() };
const notice = {
  type: 'PostNotice',
  noticeId: noticeId(),
  runId: runId(),
  scriptId: scriptId(),
  on: 'run_too_long',
};

test('an expectation causes a notice when it is missed, and when it is met again or no longer checked', async () => {
  const missed = { type: 'ExpectationMissed', data: { ...about, detail: 'It takes long.' } };
  expect(await reactTo(missed)).toEqual([
    { ...notice, level: 'warning', message: 'It takes long.' },
  ]);
  const met = { type: 'ExpectationCleared', data: { ...about, reason: 'met' } };
  expect(await reactTo(met)).toEqual([{ ...notice, level: 'info', message: 'The run ended.' }]);
  const removed = { type: 'ExpectationCleared', data: { ...about, reason: 'not_checked' } };
  expect(await reactTo(removed)).toEqual([
    { ...notice, level: 'info', message: 'The expectation is no longer checked.' },
  ]);
});
