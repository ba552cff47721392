import { given } from '#domain/testing/given.ts';
import { sessionId, userId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import { sessionAggregate } from './decide.ts';
import type { SessionEvent } from './events.ts';

const id = { sessionId: sessionId() };
const account = { userId: userId(), accountVersion: 3, userAgent: 'Firefox' };
const open = { type: 'OpenSession', ...id, ...account } as const;
const close = { type: 'CloseSession', ...id, reason: 'logout' } as const;
const opened: SessionEvent = { type: 'SessionOpened', data: { ...id, ...account } };
const closed: SessionEvent = { type: 'SessionClosed', data: { ...id, reason: 'logout' } };

describe('given no session', () => {
  test('when somebody signs in, then it is open', () => {
    given(sessionAggregate).when(open).thenRecords(opened);
  });

  test('when it is closed, then nothing is recorded', () => {
    given(sessionAggregate).when(close).thenRecordsNothing();
  });
});

describe('given an open session', () => {
  const session = given(sessionAggregate, opened);

  test('when it is opened again, then nothing is recorded', () => {
    session.when(open).thenRecordsNothing();
  });

  test.each(['logout', 'revoked', 'refresh_reused'] as const)(
    'when it ends by %s, then that is said',
    (reason) => {
      session
        .when({ ...close, reason })
        .thenRecords({ type: 'SessionClosed', data: { ...id, reason } });
    },
  );
});

describe('given a session of an old program, whose token was traded', () => {
  const old: readonly SessionEvent[] = [
    { type: 'SessionOpened', data: { ...id, userId: userId(), refreshHash: 'first' } },
    { type: 'SessionRefreshed', data: { ...id, refreshHash: 'second' } },
  ];

  test('when it is closed, then that is recorded', () => {
    given(sessionAggregate, ...old)
      .when(close)
      .thenRecords(closed);
  });
});

describe('given a session that has ended', () => {
  const session = given(sessionAggregate, opened, closed);

  test('when it is closed or opened again, then nothing is recorded', () => {
    session.when(close).thenRecordsNothing();
    session.when(open).thenRecordsNothing();
  });
});
