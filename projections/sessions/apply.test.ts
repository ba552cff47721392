import type { Command } from '#domain/aggregates.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import { commandId, groupId, sessionId, userId } from '#domain/testing/ids.ts';
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

function open(number = 1, accountVersion = 1): Command {
  const ids = { sessionId: sessionId(number), userId: userId() };
  return { type: 'OpenSession', ...ids, accountVersion, userAgent: 'Firefox' };
}

const close: Command = { type: 'CloseSession', sessionId: sessionId(), reason: 'logout' };

async function rowOnce(...commands: readonly Command[]) {
  const { sessions } = await rowsAfter(reads.db, [sessionsProjection], [await recordAll(commands)]);
  return sessions?.[0];
}

const opened = {
  session_id: sessionId(),
  stream_version: 1,
  user_id: userId(),
  account_version: 1,
  opened_at: at(1),
  ip: '192.0.2.1',
  user_agent: 'Firefox',
  closed_at: null,
  identity: null,
};

describe('the row of a session', () => {
  test('shows the IP address and the user agent that opened the session', async () => {
    expect(await rowOnce(open())).toEqual(opened);
  });

  test('shows that the session ended', async () => {
    const closed = { ...opened, closed_at: at(2), stream_version: 2 };
    expect(await rowOnce(open(), close)).toEqual(closed);
  });
});

describe('a user with open, closed and outdated sessions', () => {
  const ids = [1, 2, 3, 4].map((number) => sessionId(number));
  const changed = async (...commands: readonly Command[]) => {
    const before = [createUser(), open(1), open(2), open(3), open(4, 9), close];
    const events = await recordAll([...before, ...commands]);
    for (const table of ['users', 'sessions'])
      await sql.raw(`DELETE FROM ${table}`).execute(reads.db);
    await applyAll([usersProjection, sessionsProjection], reads.db, events);
    return (await findOpenSessions(reads.db, ids)).map((one) => one.session_id).toSorted();
  };
  const set = (disabled: boolean): Command => ({
    type: 'ChangeUser',
    userId: userId(),
    changes: { disabled },
  });
  const password = (keptSessionId?: SessionId): Command => ({
    type: 'ChangeUserPassword',
    userId: userId(),
    credentialId: commandId(keptSessionId === undefined ? 7 : 8),
    ...(keptSessionId && { keptSessionId }),
  });

  test('has only valid sessions in a lookup by ID', async () => {
    expect(await changed()).toEqual([sessionId(2), sessionId(3)]);
    expect(await findOpenSession(reads.db, sessionId(2))).toEqual({
      session_id: sessionId(2),
      user_id: userId(),
      email: 'ada@example.com',
      name: 'Ada',
      role: 'developer',
      group_ids: [groupId()],
      can_audit: false,
      is_single_factor: true,
    });
    expect(await findOpenSession(reads.db, sessionId(1))).toBeUndefined();
    expect(await findOpenSession(reads.db, sessionId(9))).toBeUndefined();
  });

  test('has no valid session after the account was disabled, even if the account is enabled again', async () => {
    expect(await changed(set(true))).toEqual([]);
    expect(await changed(set(true), set(false))).toEqual([]);
  });

  test('keeps only the session in which the password was changed', async () => {
    expect(await changed(password())).toEqual([]);
    expect(await changed(password(sessionId(2)))).toEqual([sessionId(2)]);
    expect(await changed(password(sessionId(2)), open(5, 2))).toEqual([sessionId(2)]);
    expect(await changed(password(sessionId(2)), password())).toEqual([]);
    expect(await changed(password(sessionId(2)), set(true), set(false))).toEqual([]);
  });
});
