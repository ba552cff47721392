import { scriptId } from '#domain/testing/ids.ts';
import { given } from '#domain/testing/given.ts';
import { file, scriptCreated } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { scriptAggregate } from './decide.ts';
import type { ScriptDecisionFacts } from './decide-settings.ts';
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

describe('a script whose files changed since version 1', () => {
  const files = [file('main.py', 'a'), file('lib/a.py', 'b')];
  const script = given(scriptAggregate, scriptCreated({ files }), dropped('lib/a.py', 2));
  const restore = (more: { files?: typeof files; expectedVersion?: number } = {}) =>
    ({
      type: 'RestoreFiles',
      ...id,
      restoredVersion: 1,
      files,
      entrypoint: 'main.py',
      ...more,
    }) as const;

  test('can restore the files of version 1 as a new version', () => {
    script.when(restore(), here).thenRecords({
      type: 'FilesRestored',
      data: {
        ...id,
        version: 3,
        restoredVersion: 1,
        saved: [file('lib/a.py', 'b')],
        deleted: [],
      },
    });
  });

  test('records nothing when the restored files are identical', () => {
    script.when(restore({ files: [file('main.py', 'a')] }), here).thenRecords();
  });

  test('refuses a restore based on an outdated version', () => {
    script.when(restore({ expectedVersion: 1 }), here).thenRefuses('version_mismatch');
  });
});

describe('a script with two files', () => {
  const files = [file('main.py', 'a'), file('lib/a.py', 'b')];
  const script = given(scriptAggregate, scriptCreated({ files }));

  test('has a new version after a file was deleted', () => {
    script.when(drop('lib/a.py'), here).thenRecords(dropped('lib/a.py', 2));
  });

  test('allows the deletion of the entry point', () => {
    script.when(drop('main.py'), here).thenRecords(dropped('main.py', 2));
  });

  test('refuses the deletion of the last file', () => {
    given(scriptAggregate, scriptCreated({ files }), dropped('main.py', 2))
      .when(drop('lib/a.py'), here)
      .thenRefuses('last_file');
  });

  test.each(['nothing.py', 'lib'])('refuses the deletion of %j, which does not exist', (path) => {
    script.when(drop(path), here).thenRefuses('not_found');
    script.when(move(path, 'x'), here).thenRefuses('not_found');
  });

  test('refuses the deletion of a file with a hash that does not match', () => {
    const expectedSha256 = 'c'.repeat(64);
    script.when(drop('lib/a.py', { expectedSha256 }), here).thenRefuses('version_mismatch');
    script.when(move('lib/a.py', 'x', { expectedSha256 }), here).thenRefuses('version_mismatch');
    script.when(drop('lib/a.py', { expectedVersion: 2 }), here).thenRefuses('version_mismatch');
  });

  test('keeps the content of a moved file', () => {
    const seen = { expectedSha256: 'b'.repeat(64) };
    script
      .when(move('lib/a.py', 'lib/b.py', seen), here)
      .thenRecords(moved('lib/a.py', 'lib/b.py', 'b', 2));
  });

  test('updates the entry point setting when the file is moved', () => {
    script.when(move('main.py', 'app.py'), here).thenRecords(moved('main.py', 'app.py', 'a', 2), {
      type: 'ScriptChanged',
      data: { ...id, version: 3, settings: { entrypoint: 'app.py' } },
    });
  });

  test('refuses to move the entry point to a name that Python does not execute', () => {
    script.when(move('main.py', 'nb.ipynb'), here).thenRefuses('validation_failed');
    script
      .when(move('lib/a.py', 'lib/nb.ipynb'), here)
      .thenRecords(moved('lib/a.py', 'lib/nb.ipynb', 'b', 2));
  });

  test.each(['main.py', 'lib/a.py'])('refuses to move a file to the existing path %j', (to) => {
    script.when(move('lib/a.py', to), here).thenRefuses('already_exists');
  });

  test.each(['', '../x', '/x', 'data/x', 'a\\b', 'main.py/x'])(
    'refuses to move a file to the invalid path %j',
    (to) => {
      script.when(move('lib/a.py', to), here).thenRefuses('invalid_path');
    },
  );

  test('can move a file to a path below its old path', () => {
    const to = 'lib/a.py/__init__.py';
    script.when(move('lib/a.py', to), here).thenRecords(moved('lib/a.py', to, 'b', 2));
    script.when(move('lib/a.py', 'lib'), here).thenRecords(moved('lib/a.py', 'lib', 'b', 2));
  });
});

describe('a deleted script', () => {
  const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };
  const restored: ScriptEvent = { type: 'ScriptRestored', data: id };
  const script = given(scriptAggregate, scriptCreated(), deleted);

  test('can be restored unchanged', () => {
    script.when({ type: 'RestoreScript', ...id }, here).thenRecords(restored);
    given(scriptAggregate, scriptCreated(), deleted, restored)
      .when({ type: 'SaveFile', ...id, ...file('main.py') }, here)
      .thenRecordsNothing();
  });

  test('records nothing when restored again', () => {
    given(scriptAggregate, scriptCreated(), deleted, restored)
      .when({ type: 'RestoreScript', ...id }, here)
      .thenRecordsNothing();
    given(scriptAggregate)
      .when({ type: 'RestoreScript', ...id }, here)
      .thenRefuses('not_found');
  });
});
