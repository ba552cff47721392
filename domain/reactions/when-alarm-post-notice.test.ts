import type { Recorded } from '#domain/aggregates.ts';
import { noticeId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { expect, test } from 'vitest';
import { whenAlarmPostNotice } from './when-alarm-post-notice.ts';

async function reactTo(alarm: object) {
  const [any] = await recordAll(beginning);
  const event = { ...any, ...alarm } as Recorded;
  return await whenAlarmPostNotice.react(event, reactionReads(), () => noticeId());
}

const notice = { type: 'PostNotice', noticeId: noticeId(), runId: null, scriptId: null };

test('an alarm causes a platform notice when it is raised and when it is cleared', async () => {
  const data = { name: 'disk_low', detail: 'There is no room.' };
  expect(await reactTo({ type: 'AlarmRaised', data })).toEqual([
    { ...notice, on: 'alarm', level: 'warning', message: 'There is no room.' },
  ]);
  expect(await reactTo({ type: 'AlarmCleared', data: { name: 'disk_low' } })).toEqual([
    { ...notice, on: 'alarm_cleared', level: 'info', message: 'Disk space is sufficient again.' },
  ]);
});
