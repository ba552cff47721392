import { given } from '#domain/testing/given.ts';
import { groupId } from '#domain/testing/ids.ts';
import { postNotice } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { noticeAggregate } from './decide.ts';
import type { NoticeEvent } from './events.ts';

const facts = { groupId: groupId() };
const { type: _, ...data } = postNotice();
const posted: NoticeEvent = { type: 'NoticePosted', data: { ...data, groupId: groupId() } };

describe('a new notice', () => {
  test('about a script is addressed to the group of the script', () => {
    given(noticeAggregate).when(postNotice(), facts).thenRecords(posted);
  });

  test('about a group is addressed to the members of that group', () => {
    const others = { groupId: groupId(2) };
    given(noticeAggregate)
      .when(postNotice(others), facts)
      .thenRecords({ type: 'NoticePosted', data: { ...data, ...others } });
  });

  test('about an unknown script is refused', () => {
    given(noticeAggregate).when(postNotice(), { groupId: undefined }).thenRefuses('not_found');
  });
});

test('a new notice about the platform belongs to no group', () => {
  const { type, ...about } = postNotice({ scriptId: null, runId: null, on: 'alarm' });
  given(noticeAggregate)
    .when({ type, ...about }, { groupId: undefined })
    .thenRecords({ type: 'NoticePosted', data: { ...about, groupId: null } });
});

test('a new notice about a group belongs to that group', () => {
  const command = postNotice({ scriptId: null, runId: null, groupId: groupId(2) });
  const { type: _type, ...about } = command;
  given(noticeAggregate)
    .when(command, { groupId: undefined })
    .thenRecords({ type: 'NoticePosted', data: { ...about, groupId: groupId(2) } });
});

describe('a posted notice', () => {
  test('is not recorded again', () => {
    given(noticeAggregate, posted)
      .when(postNotice({ message: 'Another.' }), facts)
      .thenRecordsNothing();
  });
});
