import { given } from '#domain/testing/given.ts';
import { updateId } from '#domain/testing/ids.ts';
import { noteRelease, startUpdate } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { updateAggregate } from './decide.ts';
import type { UpdateEvent } from './events.ts';

const { type: _, ...release } = noteRelease();
const found: UpdateEvent = { type: 'ReleaseFound', data: release };
const { type: __, ...start } = startUpdate();
const started: UpdateEvent = { type: 'UpdateStarted', data: start };
const id = { updateId: updateId() };
const downloaded: UpdateEvent = {
  type: 'UpdateStepFinished',
  data: { ...id, step: 'download', detail: null },
};
const failed: UpdateEvent = {
  type: 'UpdateFailed',
  data: { ...id, step: 'verify', reason: 'It was cut.' },
};

describe('an offered release', () => {
  test('is not recorded again', () => {
    given(updateAggregate, found).when(noteRelease()).thenRecordsNothing();
  });

  test('cannot be replaced by an older release, which could be a rollback attack', () => {
    given(updateAggregate, found)
      .when(noteRelease({ version: '0.1.9' }))
      .thenRefuses('update_refused');
  });

  test('cannot be replaced by different content for the same version', () => {
    given(updateAggregate, found)
      .when(noteRelease({ sha256: 'd'.repeat(64) }))
      .thenRefuses('update_refused');
  });

  test('is recorded again if a new signature expires later', () => {
    const longer = { expiresAt: '2028-01-01T00:00:00.000Z' };
    given(updateAggregate, found)
      .when(noteRelease(longer))
      .thenRecords({ type: 'ReleaseFound', data: { ...release, ...longer } });
  });

  test('can be installed by only one update at a time', () => {
    given(updateAggregate, found).when(startUpdate()).thenRecords(started);
    given(updateAggregate, found, started).when(startUpdate()).thenRecordsNothing();
  });

  test('does not allow an update to another version', () => {
    given(updateAggregate, found)
      .when(startUpdate({ to: '0.1.15' }))
      .thenRefuses('update_not_possible');
  });

  test('cannot be installed if the current version is not older, or is too old for a direct update', () => {
    for (const from of ['0.1.14', '0.2.0', '0.1.12']) {
      given(updateAggregate, found).when(startUpdate({ from })).thenRefuses('update_not_possible');
    }
  });
});

describe('an active update', () => {
  test('refuses another update', () => {
    given(updateAggregate, found, started)
      .when(startUpdate({ updateId: updateId(2) }))
      .thenRefuses('update_in_progress');
  });

  test('records each step only once and in order', () => {
    const finish = { type: 'FinishUpdateStep', ...id, detail: null } as const;
    given(updateAggregate, found, started)
      .when({ ...finish, step: 'download' })
      .thenRecords(downloaded);
    given(updateAggregate, found, started, downloaded)
      .when({ ...finish, step: 'download' })
      .thenRecordsNothing();
    given(updateAggregate, found, started)
      .when({ ...finish, step: 'backup' })
      .thenRecordsNothing();
  });

  test('records the failed step and allows another update afterwards', () => {
    given(updateAggregate, found, started, downloaded)
      .when({ type: 'FailUpdate', ...id, reason: 'It was cut.' })
      .thenRecords(failed);
    given(updateAggregate, found, started, downloaded, failed)
      .when({ type: 'SucceedUpdate', ...id })
      .thenRecordsNothing();
    const again = startUpdate({ updateId: updateId(2) });
    const { type: ___, ...data } = again;
    given(updateAggregate, found, started, downloaded, failed)
      .when(again)
      .thenRecords({ type: 'UpdateStarted', data });
  });
});

describe('the rollback of a successful update', () => {
  const succeeded: UpdateEvent = { type: 'UpdateSucceeded', data: id };
  const discard = { type: 'DiscardRollback', ...id, cause: 'requested' } as const;
  const discarded: UpdateEvent = {
    type: 'RollbackDiscarded',
    data: { ...id, cause: 'requested' },
  };

  test('is discarded only once', () => {
    given(updateAggregate, found, started, succeeded).when(discard).thenRecords(discarded);
    given(updateAggregate, found, started, succeeded, discarded)
      .when({ ...discard, cause: 'expired' })
      .thenRecordsNothing();
  });

  test('cannot be discarded while an update or a rollback is active', () => {
    const { type: ___, ...rollback } = startUpdate({
      updateId: updateId(2),
      kind: 'rollback',
      from: '0.1.14',
      to: '0.1.13',
    });
    given(updateAggregate, found, started, succeeded, { type: 'UpdateStarted', data: rollback })
      .when(discard)
      .thenRefuses('update_in_progress');
  });

  test('cannot be discarded for an unknown update', () => {
    given(updateAggregate, found).when(discard).thenRefuses('not_found');
  });
});
