import { given } from '#domain/testing/given.ts';
import { sessionId, userId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import { sessionAggregate } from './decide.ts';
import type { SessionEvent } from './events.ts';

const id = { sessionId: sessionId() };
const open = { type: 'OpenSession', ...id, userId: userId(), refreshHash: 'first' } as const;
const close = { type: 'CloseSession', ...id } as const;
const opened: SessionEvent = {
  type: 'SessionOpened',
  data: { ...id, userId: userId(), refreshHash: 'first' },
};
const closed: SessionEvent = { type: 'SessionClosed', data: { ...id, reason: 'logout' } };
const reused: SessionEvent = { type: 'SessionClosed', data: { ...id, reason: 'refresh_reused' } };

function refresh(presentedHash: string, nextHash: string) {
  return { type: 'RefreshSession', ...id, presentedHash, nextHash } as const;
}

function refreshed(refreshHash: string): SessionEvent {
  return { type: 'SessionRefreshed', data: { ...id, refreshHash } };
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
