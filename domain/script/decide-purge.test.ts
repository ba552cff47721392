import { given } from '#domain/testing/given.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { scriptCreated } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { scriptAggregate } from './decide.ts';
import type { ScriptEvent } from './events.ts';

const here = { groupExists: true };
const id = { scriptId: scriptId() };
const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };

describe('given a script that is purged', () => {
  const purged: ScriptEvent = { type: 'ScriptPurged', data: id };
  const finished: ScriptEvent = { type: 'ScriptPurgeFinished', data: id };
  const purge = { type: 'PurgeScript', ...id } as const;
  const finish = { type: 'FinishPurge', ...id } as const;

  test('when it was not deleted before, then that is refused', () => {
    given(scriptAggregate, scriptCreated()).when(purge, here).thenRefuses('script_not_deleted');
    given(scriptAggregate).when(purge, here).thenRefuses('not_found');
  });

  test('when it was deleted, then that is recorded, once', () => {
    given(scriptAggregate, scriptCreated(), deleted).when(purge, here).thenRecords(purged);
    const script = given(scriptAggregate, scriptCreated(), deleted, purged);
    script.when(purge, here).thenRecordsNothing();
  });

  test('when all is removed, then that is recorded, once, and of no other script', () => {
    given(scriptAggregate, scriptCreated(), deleted, purged)
      .when(finish, here)
      .thenRecords(finished);
    const over = given(scriptAggregate, scriptCreated(), deleted, purged, finished);
    over.when(finish, here).thenRecordsNothing();
    over.when(purge, here).thenRecordsNothing();
    given(scriptAggregate, scriptCreated(), deleted)
      .when(finish, here)
      .thenRefuses('script_not_deleted');
  });

  test('when it is to be restored or changed, then that is refused', () => {
    const script = given(scriptAggregate, scriptCreated(), deleted, purged);
    script.when({ type: 'RestoreScript', ...id }, here).thenRefuses('script_purged');
    script.when({ type: 'EnableScript', ...id }, here).thenRefuses('not_found');
  });
});
