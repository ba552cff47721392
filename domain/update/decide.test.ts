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

describe('given a release that was found', () => {
  test('when it is found again, then nothing is recorded', () => {
    given(updateAggregate, found).when(noteRelease()).thenRecordsNothing();
  });

  test('when the repository has an older one, then it is refused: it was rolled back', () => {
    given(updateAggregate, found)
      .when(noteRelease({ version: '0.1.9' }))
      .thenRefuses('update_refused');
  });

  test('when the same version has another content, then it is refused', () => {
    given(updateAggregate, found)
      .when(noteRelease({ sha256: 'd'.repeat(64) }))
      .thenRefuses('update_refused');
  });

  test('when it is signed anew for longer, then that is noted', () => {
    const longer = { expiresAt: '2028-01-01T00:00:00.000Z' };
    given(updateAggregate, found)
      .when(noteRelease(longer))
      .thenRecords({ type: 'ReleaseFound', data: { ...release, ...longer } });
  });

  test('when it is installed, then the update starts, once', () => {
    given(updateAggregate, found).when(startUpdate()).thenRecords(started);
    given(updateAggregate, found, started).when(startUpdate()).thenRecordsNothing();
  });

  test('when another version is to be installed, then it is refused', () => {
    given(updateAggregate, found)
      .when(startUpdate({ to: '0.1.15' }))
      .thenRefuses('update_not_possible');
  });

  test('when the present version is not older, or too old, then it is refused', () => {
    for (const from of ['0.1.14', '0.2.0', '0.1.12']) {
      given(updateAggregate, found).when(startUpdate({ from })).thenRefuses('update_not_possible');
    }
  });
});

describe('given an update that is under way', () => {
  test('when another one is started, then it is refused', () => {
    given(updateAggregate, found, started)
      .when(startUpdate({ updateId: updateId(2) }))
      .thenRefuses('update_in_progress');
  });

  test('when a step is done, then it is recorded, once and in its order', () => {
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

  test('when it fails, then the step is named, and another one may start', () => {
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

describe('the rollback of an update that succeeded', () => {
  const succeeded: UpdateEvent = { type: 'UpdateSucceeded', data: id };
  const discard = { type: 'DiscardRollback', ...id, cause: 'requested' } as const;
  const discarded: UpdateEvent = {
    type: 'RollbackDiscarded',
    data: { ...id, cause: 'requested' },
  };

  test('is discarded once', () => {
    given(updateAggregate, found, started, succeeded).when(discard).thenRecords(discarded);
    given(updateAggregate, found, started, succeeded, discarded)
      .when({ ...discard, cause: 'expired' })
      .thenRecordsNothing();
  });

  test('is not discarded while an update or a rollback is active', () => {
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

  test('is not found for an unknown update', () => {
    given(updateAggregate, found).when(discard).thenRefuses('not_found');
  });
});
