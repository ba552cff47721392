import type { Command } from '#domain/aggregates.ts';
import { groupId, sessionId, userId } from '#domain/testing/ids.ts';
import { at, recordAll } from '#domain/testing/recorded.ts';
import { createUser } from '#domain/testing/samples.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { usersProjection } from '../users/apply.ts';
import { sessionsProjection } from './apply.ts';
import { findOpenSession, findOpenSessions } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

function open(number = 1): Command {
  const ids = { sessionId: sessionId(number), userId: userId() };
  return { type: 'OpenSession', ...ids, refreshHash: 'first' };
}

function refresh(presentedHash: string, nextHash: string): Command {
  return {
    type: 'RefreshSession',
    sessionId: sessionId(),
    presentedHash,
    nextHash,
    at: at(0).toISOString(),
  };
}

const close: Command = { type: 'CloseSession', sessionId: sessionId() };

async function rowOnce(...commands: readonly Command[]) {
  const { sessions } = await rowsAfter(reads.db, [sessionsProjection], [await recordAll(commands)]);
  return sessions?.[0];
}

const opened = {
  session_id: sessionId(),
  stream_version: 1,
  user_id: userId(),
  refresh_hash: 'first',
  opened_at: at(1),
  refreshed_at: at(1),
  closed_at: null,
};

describe('given a session', () => {
  test('when it is open, then its row has the token that counts', async () => {
    expect(await rowOnce(open())).toEqual(opened);
  });

  test('when its token was traded, then its row has the next', async () => {
    const refreshed = { refresh_hash: 'second', refreshed_at: at(2), stream_version: 2 };
    expect(await rowOnce(open(), refresh('first', 'second'))).toEqual({ ...opened, ...refreshed });
  });

  test('when it has ended, by whatever, then its row says so', async () => {
    const closed = { ...opened, closed_at: at(2), stream_version: 2 };
    expect(await rowOnce(open(), close)).toEqual(closed);
    expect(await rowOnce(open(), refresh('forged', 'second'))).toEqual(closed);
  });
});

describe('given somebody with three sessions, one of them ended', () => {
  const ids = [1, 2, 3].map((number) => sessionId(number));
  beforeAll(async () => {
    const commands = [createUser(), open(1), open(2), open(3), close];
    await applyAll([usersProjection, sessionsProjection], reads.db, await recordAll(commands));
  });

  test('then the open ones are found, with their owner', async () => {
    expect(await findOpenSession(reads.db, sessionId(2))).toEqual({
      session_id: sessionId(2),
      refresh_hash: 'first',
      refreshed_at: at(3),
      user_id: userId(),
      email: 'ada@example.com',
      name: 'Ada',
      role: 'developer',
      group_ids: [groupId()],
      can_audit: false,
    });
    expect(await findOpenSession(reads.db, sessionId(1))).toBeUndefined();
    expect(await findOpenSession(reads.db, sessionId(9))).toBeUndefined();
    expect(await findOpenSessions(reads.db, ids)).toHaveLength(2);
  });

  test('when their owner is disabled, then none counts', async () => {
    await sql`UPDATE users SET disabled = true`.execute(reads.db);
    expect(await findOpenSession(reads.db, sessionId(2))).toBeUndefined();
    expect(await findOpenSessions(reads.db, ids)).toEqual([]);
  });
});
