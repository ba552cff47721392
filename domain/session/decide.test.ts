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

describe('a session that does not exist yet', () => {
  test('can be opened', () => {
    given(sessionAggregate).when(open).thenRecords(opened);
  });

  test('records nothing when closed', () => {
    given(sessionAggregate).when(close).thenRecordsNothing();
  });
});

describe('an open session', () => {
  const session = given(sessionAggregate, opened);

  test('records nothing when opened again', () => {
    session.when(open).thenRecordsNothing();
  });

  test.each(['logout', 'revoked', 'refresh_reused'] as const)(
    'records its end with the reason %s',
    (reason) => {
      session
        .when({ ...close, reason })
        .thenRecords({ type: 'SessionClosed', data: { ...id, reason } });
    },
  );
});

describe('a session that an earlier release opened and refreshed', () => {
  const old: readonly SessionEvent[] = [
    { type: 'SessionOpened', data: { ...id, userId: userId(), refreshHash: 'first' } },
    { type: 'SessionRefreshed', data: { ...id, refreshHash: 'second' } },
  ];

  test('can still be closed', () => {
    given(sessionAggregate, ...old)
      .when(close)
      .thenRecords(closed);
  });
});

describe('an ended session', () => {
  const session = given(sessionAggregate, opened, closed);

  test('records nothing when closed or opened again', () => {
    session.when(close).thenRecordsNothing();
    session.when(open).thenRecordsNothing();
  });
});
