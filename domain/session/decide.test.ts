import { given } from '#domain/testing/given.ts';
import { sessionId, userId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import { sessionAggregate } from './decide.ts';
import type { SessionEvent } from './events.ts';

const id = { sessionId: sessionId() };
const open = { type: 'OpenSession', ...id, userId: userId(), refreshHash: 'first' } as const;
const close = { type: 'CloseSession', ...id } as const;
const start = Date.UTC(2026, 0, 1);
const after = (ms: number) => new Date(start + ms).toISOString();
const opened: SessionEvent = {
  type: 'SessionOpened',
  data: { ...id, userId: userId(), refreshHash: 'first' },
};
const closed: SessionEvent = { type: 'SessionClosed', data: { ...id, reason: 'logout' } };
const reused: SessionEvent = { type: 'SessionClosed', data: { ...id, reason: 'refresh_reused' } };

function refresh(presentedHash: string, nextHash: string, afterMs = 0) {
  return { type: 'RefreshSession', ...id, presentedHash, nextHash, at: after(afterMs) } as const;
}

/** The token before is good for another ten seconds. */
function refreshed(refreshHash: string): SessionEvent {
  return {
    type: 'SessionRefreshed',
    data: { ...id, refreshHash, previousUntil: after(10_000) },
  };
}

describe('given no session', () => {
  test('when somebody signs in, then it is open', () => {
    given(sessionAggregate).when(open).thenRecords(opened);
  });

  test('when a token is presented, then the session has ended', () => {
    given(sessionAggregate).when(refresh('first', 'second')).thenRefuses('session_closed');
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

  test('when its token is traded, then the next one counts', () => {
    session.when(refresh('first', 'second')).thenRecords(refreshed('second'));
  });

  test('when a token that was never its own is presented, then the family ends', () => {
    session.when(refresh('forged', 'second')).thenRecords(reused);
  });

  test('when its owner signs out, then it is closed', () => {
    session.when(close).thenRecords(closed);
  });

  test('when it is ended from elsewhere, then that is said', () => {
    session
      .when({ type: 'RevokeSession', ...id })
      .thenRecords({ type: 'SessionClosed', data: { ...id, reason: 'revoked' } });
  });
});

describe('given a session whose token was traded a moment ago', () => {
  const session = given(sessionAggregate, opened, refreshed('second'));

  test('when the same is asked again, then the successor stays the one that it was', () => {
    session.when(refresh('first', 'second', 9_999)).thenRecordsNothing();
  });

  test('when it is presented later, then the family ends', () => {
    session.when(refresh('first', 'second', 10_000)).thenRecords(reused);
  });

  test('when its successor would be another, then the family ends', () => {
    session.when(refresh('first', 'third', 1)).thenRecords(reused);
  });

  test('when the successor was traded too, then the first ends the family', () => {
    given(sessionAggregate, opened, refreshed('second'), refreshed('third'))
      .when(refresh('first', 'second', 1))
      .thenRecords(reused);
  });

  test('when its event is of a program that knew no such time, then the family ends', () => {
    const old: SessionEvent = { type: 'SessionRefreshed', data: { ...id, refreshHash: 'second' } };
    given(sessionAggregate, opened, old).when(refresh('first', 'second')).thenRecords(reused);
  });
});

describe('given a session whose token was traded twice', () => {
  const session = given(sessionAggregate, opened, refreshed('second'), refreshed('third'));

  test('when the last token is presented, then it is traded', () => {
    session.when(refresh('third', 'fourth')).thenRecords(refreshed('fourth'));
  });

  test.each(['first', 'second'])(
    'when its %s token is presented once more, then the family ends',
    (hash) => {
      session.when(refresh(hash, 'fourth')).thenRecords(reused);
    },
  );
});

describe.each([
  ['its owner', closed],
  ['the reuse of a token', reused],
])('given a session that was ended by %s', (_, end) => {
  const session = given(sessionAggregate, opened, refreshed('second'), end);

  test.each(['first', 'second'])(
    'when its %s token is presented, then it is refused',
    (presented) => {
      session.when(refresh(presented, 'third')).thenRefuses('session_closed');
    },
  );

  test('when it is closed or opened again, then nothing is recorded', () => {
    session.when(close).thenRecordsNothing();
    session.when(open).thenRecordsNothing();
  });
});
