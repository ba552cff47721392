import { scriptId } from '#domain/testing/ids.ts';
import { given } from '#domain/testing/given.ts';
import { file, scriptCreated } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { scriptAggregate, type ScriptDecisionFacts } from './decide.ts';
import type { ScriptEvent } from './events.ts';

const here: ScriptDecisionFacts = { groupExists: true };
const id = { scriptId: scriptId() };

const drop = (path: string, expected: { expectedSha256?: string; expectedVersion?: number } = {}) =>
  ({ type: 'DeleteFile', ...id, path, ...expected }) as const;
const move = (path: string, to: string, expected: { expectedSha256?: string } = {}) =>
  ({ type: 'MoveFile', ...id, path, to, ...expected }) as const;
const dropped = (path: string, version: number): ScriptEvent => ({
  type: 'FileDeleted',
  data: { ...id, version, path },
});
const moved = (from: string, to: string, letter: string, version: number): ScriptEvent => ({
  type: 'FileMoved',
  data: { ...id, version, from, ...file(to, letter) },
});

describe('given a script with two files', () => {
  const files = [file('main.py', 'a'), file('lib/a.py', 'b')];
  const script = given(scriptAggregate, scriptCreated({ files }));

  test('when one is deleted, then it is the next version', () => {
    script.when(drop('lib/a.py'), here).thenRecords(dropped('lib/a.py', 2));
  });

  test('when the entrypoint is deleted, then it may go', () => {
    script.when(drop('main.py'), here).thenRecords(dropped('main.py', 2));
  });

  test('when the last one is deleted, then it stays', () => {
    given(scriptAggregate, scriptCreated({ files }), dropped('main.py', 2))
      .when(drop('lib/a.py'), here)
      .thenRefuses('last_file');
  });

  test.each(['nothing.py', 'lib'])('when %j is deleted, then there is no such file', (path) => {
    script.when(drop(path), here).thenRefuses('not_found');
    script.when(move(path, 'x'), here).thenRefuses('not_found');
  });

  test('when a file is deleted whose author saw other content, then it is refused', () => {
    const expectedSha256 = 'c'.repeat(64);
    script.when(drop('lib/a.py', { expectedSha256 }), here).thenRefuses('version_mismatch');
    script.when(move('lib/a.py', 'x', { expectedSha256 }), here).thenRefuses('version_mismatch');
    script.when(drop('lib/a.py', { expectedVersion: 2 }), here).thenRefuses('version_mismatch');
  });

  test('when a file is moved, then its content goes along', () => {
    const seen = { expectedSha256: 'b'.repeat(64) };
    script
      .when(move('lib/a.py', 'lib/b.py', seen), here)
      .thenRecords(moved('lib/a.py', 'lib/b.py', 'b', 2));
  });

  test('when the entrypoint is moved, then the setting follows', () => {
    script.when(move('main.py', 'app.py'), here).thenRecords(moved('main.py', 'app.py', 'a', 2), {
      type: 'ScriptChanged',
      data: { ...id, version: 3, settings: { entrypoint: 'app.py' } },
    });
  });

  test('the entry point cannot be moved to a name that Python does not execute', () => {
    script.when(move('main.py', 'nb.ipynb'), here).thenRefuses('validation_failed');
    script
      .when(move('lib/a.py', 'lib/nb.ipynb'), here)
      .thenRecords(moved('lib/a.py', 'lib/nb.ipynb', 'b', 2));
  });

  test.each(['main.py', 'lib/a.py'])('when it is moved to %j, which is there, then not', (to) => {
    script.when(move('lib/a.py', to), here).thenRefuses('already_exists');
  });

  test.each(['', '../x', '/x', 'data/x', 'a\\b', 'main.py/x'])(
    'when it is moved to %j, then that is no place for it',
    (to) => {
      script.when(move('lib/a.py', to), here).thenRefuses('invalid_path');
    },
  );

  test('when it is moved to where only itself would be in its way, then it is moved', () => {
    const to = 'lib/a.py/__init__.py';
    script.when(move('lib/a.py', to), here).thenRecords(moved('lib/a.py', to, 'b', 2));
    script.when(move('lib/a.py', 'lib'), here).thenRecords(moved('lib/a.py', 'lib', 'b', 2));
  });
});

describe('given a script that was deleted', () => {
  const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };
  const restored: ScriptEvent = { type: 'ScriptRestored', data: id };
  const script = given(scriptAggregate, scriptCreated(), deleted);

  test('when it is restored, then it is as it was', () => {
    script.when({ type: 'RestoreScript', ...id }, here).thenRecords(restored);
    given(scriptAggregate, scriptCreated(), deleted, restored)
      .when({ type: 'SaveFile', ...id, ...file('main.py') }, here)
      .thenRecordsNothing();
  });

  test('when it is restored, which it is, then nothing is recorded', () => {
    given(scriptAggregate, scriptCreated(), deleted, restored)
      .when({ type: 'RestoreScript', ...id }, here)
      .thenRecordsNothing();
    given(scriptAggregate)
      .when({ type: 'RestoreScript', ...id }, here)
      .thenRefuses('not_found');
  });
});
