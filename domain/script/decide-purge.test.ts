import { given } from '#domain/testing/given.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { scriptCreated } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { scriptAggregate } from './decide.ts';
import type { ScriptEvent } from './events.ts';

const here = { groupExists: true };
const id = { scriptId: scriptId() };
const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };

describe('a purge of a script', () => {
  const purged: ScriptEvent = { type: 'ScriptPurged', data: id };
  const finished: ScriptEvent = { type: 'ScriptPurgeFinished', data: id };
  const purge = { type: 'PurgeScript', ...id } as const;
  const finish = { type: 'FinishPurge', ...id } as const;

  test('is refused unless the script was deleted', () => {
    given(scriptAggregate, scriptCreated()).when(purge, here).thenRefuses('script_not_deleted');
    given(scriptAggregate).when(purge, here).thenRefuses('not_found');
  });

  test('is recorded only once for a deleted script', () => {
    given(scriptAggregate, scriptCreated(), deleted).when(purge, here).thenRecords(purged);
    const script = given(scriptAggregate, scriptCreated(), deleted, purged);
    script.when(purge, here).thenRecordsNothing();
  });

  test('is completed only once, and only after a request', () => {
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

  test('prevents later restores and changes', () => {
    const script = given(scriptAggregate, scriptCreated(), deleted, purged);
    script.when({ type: 'RestoreScript', ...id }, here).thenRefuses('script_purged');
    script.when({ type: 'EnableScript', ...id }, here).thenRefuses('not_found');
  });
});
