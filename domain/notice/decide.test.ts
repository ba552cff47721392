import { given } from '#domain/testing/given.ts';
import { groupId } from '#domain/testing/ids.ts';
import { postNotice } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { noticeAggregate } from './decide.ts';
import type { NoticeEvent } from './events.ts';

const facts = { groupId: groupId() };
const { type: _, ...data } = postNotice();
const posted: NoticeEvent = { type: 'NoticePosted', data: { ...data, groupId: groupId() } };

describe('given nothing', () => {
  test('when a script has something to say, then it is for the people of its group', () => {
    given(noticeAggregate).when(postNotice(), facts).thenRecords(posted);
  });

  test('when it is for another group, then it goes there', () => {
    const others = { groupId: groupId(2) };
    given(noticeAggregate)
      .when(postNotice(others), facts)
      .thenRecords({ type: 'NoticePosted', data: { ...data, ...others } });
  });

  test('when there is no such script, then it is refused', () => {
    given(noticeAggregate).when(postNotice(), { groupId: undefined }).thenRefuses('not_found');
  });
});

test('given nothing, when it is about the platform, then it is for no group', () => {
  const { type, ...about } = postNotice({ scriptId: null, runId: null, on: 'alarm' });
  given(noticeAggregate)
    .when({ type, ...about }, { groupId: undefined })
    .thenRecords({ type: 'NoticePosted', data: { ...about, groupId: null } });
});

describe('given a notice', () => {
  test('when it is posted again, then nothing is recorded', () => {
    given(noticeAggregate, posted)
      .when(postNotice({ message: 'Another.' }), facts)
      .thenRecordsNothing();
  });
});
