import { groupId, scriptId } from '#domain/testing/ids.ts';
import { given } from '#domain/testing/given.ts';
import { createScript, file, scriptCreated } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { scriptAggregate, type ScriptDecisionFacts } from './decide.ts';
import type { FileVersion, ScriptEvent } from './events.ts';
import { defaultLimits, defaultSettings, maxFileBytes } from './settings.ts';

const here: ScriptDecisionFacts = { groupExists: true };
const id = { scriptId: scriptId() };
const enabled: ScriptEvent = { type: 'ScriptEnabled', data: id };
const disabled: ScriptEvent = { type: 'ScriptDisabled', data: id };
const deleted: ScriptEvent = { type: 'ScriptDeleted', data: id };

function save(what: FileVersion, expected: { sha256?: string; version?: number } = {}) {
  return {
    type: 'SaveFile',
    ...id,
    ...what,
    ...(expected.sha256 !== undefined && { expectedSha256: expected.sha256 }),
    ...(expected.version !== undefined && { expectedVersion: expected.version }),
  } as const;
}

function saved(what: FileVersion, version: number): ScriptEvent {
  return { type: 'FileSaved', data: { ...id, ...what, version } };
}

function quota(storageQuotaBytes: number) {
  return { settings: { ...defaultSettings, storageQuotaBytes } };
}

describe('given no script', () => {
  const nothing = given(scriptAggregate);

  test('when it is created, then it is there with its files', () => {
    nothing.when(createScript(), here).thenRecords(scriptCreated());
  });

  test('when its group does not exist, then it is refused', () => {
    nothing.when(createScript(), { groupExists: false }).thenRefuses('validation_failed');
  });

  test.each(['', '/main.py', '../main.py', 'a//b', 'data/x', 'a\0'])(
    'when it is created with a file at %j, then it is refused',
    (path) => {
      const files = [file('main.py'), file(path)];
      nothing.when(createScript({ files }), here).thenRefuses('invalid_path');
    },
  );

  test('when an interpreter would read its entry point as an option, then it is refused', () => {
    const settings = { ...defaultSettings, entrypoint: '-c' };
    nothing.when(createScript({ settings }), here).thenRefuses('validation_failed');
  });

  test.each([[['a.py', 'a.py']], [['a', 'a/b']], [['a/b/c', 'a/b']]])(
    'when two of its files, %j, get in each other’s way, then it is refused',
    (paths) => {
      const files = paths.map((path) => file(path));
      nothing.when(createScript({ files }), here).thenRefuses('invalid_path');
    },
  );

  test('when a file is larger than a file may be, then it is refused', () => {
    const files = [file('big', 'a', maxFileBytes + 1)];
    nothing.when(createScript({ files }), here).thenRefuses('payload_too_large');
  });

  test('when its files together are larger than its quota, then it is refused', () => {
    const files = [file('a', 'a', 60), file('b', 'b', 41)];
    nothing
      .when(createScript({ ...quota(100), files }), here)
      .thenRefuses('storage_quota_exceeded');
  });

  test('when its files fill the quota exactly, then it is created', () => {
    const script = { ...quota(100), files: [file('a', 'a', 60), file('b', 'b', 40)] };
    nothing.when(createScript(script), here).thenRecords(scriptCreated(script));
  });

  test.each([
    { type: 'ChangeScript', ...id, name: 'New' },
    save(file('main.py')),
    { type: 'EnableScript', ...id },
    { type: 'DisableScript', ...id },
    { type: 'DeleteScript', ...id },
  ] as const)('when it is asked to $type, then there is no such script', (command) => {
    nothing.when(command, here).thenRefuses('not_found');
  });
});

describe('given a script', () => {
  const script = given(scriptAggregate, scriptCreated());

  test('when it is created again, then it exists already', () => {
    script.when(createScript(), here).thenRefuses('already_exists');
  });

  test('when something is changed, then only that is recorded, under the next version', () => {
    script
      .when(
        {
          type: 'ChangeScript',
          ...id,
          name: 'New',
          description: 'Counts things.',
          settings: { maxConcurrentRuns: 3, entrypoint: 'main.py', tags: [] },
        },
        here,
      )
      .thenRecords({
        type: 'ScriptChanged',
        data: { ...id, version: 2, name: 'New', settings: { maxConcurrentRuns: 3 } },
      });
  });

  test('when nothing really changes, then nothing is recorded', () => {
    script
      .when({ type: 'ChangeScript', ...id, name: 'Report', groupId: groupId() }, here)
      .thenRecordsNothing();
  });

  test('when it is given the limits that it has, in any order, then nothing is recorded', () => {
    const limits = Object.fromEntries(
      Object.entries(defaultLimits).toReversed(),
    ) as unknown as typeof defaultLimits;
    script.when({ type: 'ChangeScript', ...id, settings: { limits } }, here).thenRecordsNothing();
  });

  test('when a limit is lifted, then that is recorded', () => {
    const limits = { ...defaultLimits, cpu_seconds: null };
    script
      .when({ type: 'ChangeScript', ...id, settings: { limits } }, here)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, settings: { limits } } });
  });

  test('when it is moved to another group, then that is recorded', () => {
    script
      .when({ type: 'ChangeScript', ...id, groupId: groupId(2) }, here)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, groupId: groupId(2) } });
  });

  test('when it is moved to a group that does not exist, then it is refused', () => {
    script
      .when({ type: 'ChangeScript', ...id, groupId: groupId(2) }, { groupExists: false })
      .thenRefuses('validation_failed');
  });

  test('when its quota is set below what it uses, then that is accepted', () => {
    script
      .when({ type: 'ChangeScript', ...id, settings: { storageQuotaBytes: 5 } }, here)
      .thenRecords({
        type: 'ScriptChanged',
        data: { ...id, version: 2, settings: { storageQuotaBytes: 5 } },
      });
  });

  test('when it is enabled, which it is, then nothing is recorded', () => {
    script.when({ type: 'EnableScript', ...id }, here).thenRecordsNothing();
  });

  test('when it is disabled, then that is recorded', () => {
    script.when({ type: 'DisableScript', ...id }, here).thenRecords(disabled);
  });

  test('when it is deleted, then that is recorded', () => {
    script.when({ type: 'DeleteScript', ...id, expectedVersion: 1 }, here).thenRecords(deleted);
  });
});

describe('given a script at version 2', () => {
  const script = given(scriptAggregate, scriptCreated(), saved(file('main.py', 'b'), 2));

  test.each([
    { type: 'ChangeScript', ...id, name: 'New', expectedVersion: 1 },
    { type: 'ChangeScript', ...id, name: 'Report', expectedVersion: 3 },
    save(file('main.py', 'c'), { version: 1 }),
    { type: 'DeleteScript', ...id, expectedVersion: 1 },
  ] as const)(
    'when somebody who saw version $expectedVersion asks to $type, then it is refused',
    (command) => {
      script.when(command, here).thenRefuses('version_mismatch');
    },
  );

  test('when somebody who saw version 2 changes it, then it is version 3', () => {
    script
      .when({ type: 'ChangeScript', ...id, name: 'New', expectedVersion: 2 }, here)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 3, name: 'New' } });
  });

  test('when it is disabled and enabled, then its version stays', () => {
    given(scriptAggregate, scriptCreated(), disabled, enabled)
      .when(save(file('x')), here)
      .thenRecords(saved(file('x'), 2));
  });
});

describe('given a script with a file', () => {
  const script = given(scriptAggregate, scriptCreated({ files: [file('lib/a.py', 'a')] }));

  test('when another file is saved, then it is the next version', () => {
    script.when(save(file('main.py', 'b')), here).thenRecords(saved(file('main.py', 'b'), 2));
  });

  test('when the same content is saved, then nothing is recorded', () => {
    script.when(save(file('lib/a.py', 'a')), here).thenRecordsNothing();
  });

  test.each(['', '..', '/x', 'a\\b', 'data/x', 'x'.repeat(256)])(
    'when a file is saved at %j, then it is refused',
    (path) => {
      script.when(save(file(path)), here).thenRefuses('invalid_path');
    },
  );

  test.each(['lib', 'lib/a.py/b', 'lib/a.py/b/c'])(
    'when a file is saved at %j, where it cannot be beside the other, then it is refused',
    (path) => {
      script.when(save(file(path)), here).thenRefuses('invalid_path');
    },
  );

  test('when a file is saved at a name that only begins the same, then it is saved', () => {
    script.when(save(file('lib/a')), here).thenRecords(saved(file('lib/a'), 2));
    script.when(save(file('li')), here).thenRecords(saved(file('li'), 2));
  });

  test('when its author saw the present content, then it is saved', () => {
    const next = file('lib/a.py', 'b');
    script.when(save(next, { sha256: 'a'.repeat(64) }), here).thenRecords(saved(next, 2));
  });

  test.each(['lib/a.py', 'lib/new.py'])(
    'when the author of %j saw other content, then it is refused',
    (path) => {
      script
        .when(save(file(path, 'c'), { sha256: 'b'.repeat(64) }), here)
        .thenRefuses('version_mismatch');
    },
  );

  test('when the file is as large as a file may be, then it is saved, and no larger one', () => {
    const largest = file('big', 'b', maxFileBytes);
    script.when(save(largest), here).thenRecords(saved(largest, 2));
    script
      .when(save({ ...largest, sizeBytes: maxFileBytes + 1 }), here)
      .thenRefuses('payload_too_large');
  });
});

describe('given a script that uses 60 of its 100 bytes', () => {
  const script = given(
    scriptAggregate,
    scriptCreated({ ...quota(100), files: [file('a', 'a', 60)] }),
  );

  test('when a file fills the rest, then it is saved', () => {
    script.when(save(file('b', 'b', 40)), here).thenRecords(saved(file('b', 'b', 40), 2));
  });

  test('when a file needs one byte more, then it is refused', () => {
    script.when(save(file('b', 'b', 41)), here).thenRefuses('storage_quota_exceeded');
  });

  test('when a file takes the place of the old one, then the old one does not count', () => {
    script.when(save(file('a', 'b', 100)), here).thenRecords(saved(file('a', 'b', 100), 2));
    script.when(save(file('a', 'b', 101)), here).thenRefuses('storage_quota_exceeded');
  });

  test('when the quota was set below that, then further writes are refused', () => {
    given(scriptAggregate, scriptCreated({ ...quota(100), files: [file('a', 'a', 60)] }), {
      type: 'ScriptChanged',
      data: { ...id, version: 2, settings: { storageQuotaBytes: 50 } },
    })
      .when(save(file('b', 'b', 1)), here)
      .thenRefuses('storage_quota_exceeded');
  });
});

describe('given a disabled script', () => {
  const script = given(scriptAggregate, scriptCreated(), disabled);

  test('when it is disabled, then nothing is recorded', () => {
    script.when({ type: 'DisableScript', ...id }, here).thenRecordsNothing();
  });

  test('when it is enabled, then that is recorded', () => {
    script.when({ type: 'EnableScript', ...id }, here).thenRecords(enabled);
  });

  test('when a file is saved, then it is saved', () => {
    script.when(save(file('x')), here).thenRecords(saved(file('x'), 2));
  });
});

describe('given a deleted script', () => {
  const script = given(scriptAggregate, scriptCreated(), deleted);

  test('when it is created again, then it exists already: its history is kept', () => {
    script.when(createScript(), here).thenRefuses('already_exists');
  });

  test.each([
    { type: 'ChangeScript', ...id, name: 'New' },
    save(file('main.py', 'b')),
    { type: 'EnableScript', ...id },
    { type: 'DisableScript', ...id },
    { type: 'DeleteScript', ...id },
  ] as const)('when it is asked to $type, then there is no such script', (command) => {
    script.when(command, here).thenRefuses('not_found');
  });
});
