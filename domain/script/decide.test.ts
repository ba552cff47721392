import { groupId, scriptId } from '#domain/testing/ids.ts';
import { given } from '#domain/testing/given.ts';
import { createScript, file, scriptCreated } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { scriptAggregate } from './decide.ts';
import type { ScriptDecisionFacts } from './decide-settings.ts';
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

describe('a script that does not exist yet', () => {
  const nothing = given(scriptAggregate);

  test('can be created with its files', () => {
    nothing.when(createScript(), here).thenRecords(scriptCreated());
  });

  test('cannot be created if its group does not exist', () => {
    nothing.when(createScript(), { groupExists: false }).thenRefuses('validation_failed');
  });

  test.each(['', '/main.py', '../main.py', 'a//b', 'data/x', 'a\0'])(
    'cannot be created with a file at %j',
    (path) => {
      const files = [file('main.py'), file(path)];
      nothing.when(createScript({ files }), here).thenRefuses('invalid_path');
    },
  );

  test('cannot be created if an interpreter would parse its entry point as an option', () => {
    const settings = { ...defaultSettings, entrypoint: '-c' };
    nothing.when(createScript({ settings }), here).thenRefuses('validation_failed');
  });

  test.each([[['a.py', 'a.py']], [['a', 'a/b']], [['a/b/c', 'a/b']]])(
    'cannot be created with the conflicting files %j',
    (paths) => {
      const files = paths.map((path) => file(path));
      nothing.when(createScript({ files }), here).thenRefuses('invalid_path');
    },
  );

  test('cannot be created with a file above the size limit', () => {
    const files = [file('big', 'a', maxFileBytes + 1)];
    nothing.when(createScript({ files }), here).thenRefuses('payload_too_large');
  });

  test('cannot be created if its files exceed its quota', () => {
    const files = [file('a', 'a', 60), file('b', 'b', 41)];
    nothing
      .when(createScript({ ...quota(100), files }), here)
      .thenRefuses('storage_quota_exceeded');
  });

  test('can be created if its files exactly fill its quota', () => {
    const script = { ...quota(100), files: [file('a', 'a', 60), file('b', 'b', 40)] };
    nothing.when(createScript(script), here).thenRecords(scriptCreated(script));
  });

  test.each([
    { type: 'ChangeScript', ...id, name: 'New' },
    save(file('main.py')),
    { type: 'EnableScript', ...id },
    { type: 'DisableScript', ...id },
    { type: 'DeleteScript', ...id },
  ] as const)('refuses $type with not_found', (command) => {
    nothing.when(command, here).thenRefuses('not_found');
  });
});

describe('an existing script', () => {
  const script = given(scriptAggregate, scriptCreated());

  test('cannot be created again', () => {
    script.when(createScript(), here).thenRefuses('already_exists');
  });

  test('records only changed settings and the next version', () => {
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

  test('records nothing if a command changes nothing', () => {
    script
      .when({ type: 'ChangeScript', ...id, name: 'Report', groupId: groupId() }, here)
      .thenRecordsNothing();
  });

  test('records nothing if only the order of its limits changes', () => {
    const limits = Object.fromEntries(
      Object.entries(defaultLimits).toReversed(),
    ) as unknown as typeof defaultLimits;
    script.when({ type: 'ChangeScript', ...id, settings: { limits } }, here).thenRecordsNothing();
  });

  test('records a removed limit', () => {
    const limits = { ...defaultLimits, cpu_seconds: null };
    script
      .when({ type: 'ChangeScript', ...id, settings: { limits } }, here)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, settings: { limits } } });
  });

  test('can be moved to another group', () => {
    script
      .when({ type: 'ChangeScript', ...id, groupId: groupId(2) }, here)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 2, groupId: groupId(2) } });
  });

  test('cannot be moved to a group that does not exist', () => {
    script
      .when({ type: 'ChangeScript', ...id, groupId: groupId(2) }, { groupExists: false })
      .thenRefuses('validation_failed');
  });

  test('accepts a quota below the current usage', () => {
    script
      .when({ type: 'ChangeScript', ...id, settings: { storageQuotaBytes: 5 } }, here)
      .thenRecords({
        type: 'ScriptChanged',
        data: { ...id, version: 2, settings: { storageQuotaBytes: 5 } },
      });
  });

  test('records nothing when it is enabled again', () => {
    script.when({ type: 'EnableScript', ...id }, here).thenRecordsNothing();
  });

  test('can be disabled', () => {
    script.when({ type: 'DisableScript', ...id }, here).thenRecords(disabled);
  });

  test('can be deleted', () => {
    script.when({ type: 'DeleteScript', ...id, expectedVersion: 1 }, here).thenRecords(deleted);
  });
});

describe('a script at version 2', () => {
  const script = given(scriptAggregate, scriptCreated(), saved(file('main.py', 'b'), 2));

  test.each([
    { type: 'ChangeScript', ...id, name: 'New', expectedVersion: 1 },
    { type: 'ChangeScript', ...id, name: 'Report', expectedVersion: 3 },
    save(file('main.py', 'c'), { version: 1 }),
    { type: 'DeleteScript', ...id, expectedVersion: 1 },
  ] as const)('refuses $type based on version $expectedVersion', (command) => {
    script.when(command, here).thenRefuses('version_mismatch');
  });

  test('has version 3 after a change based on version 2', () => {
    script
      .when({ type: 'ChangeScript', ...id, name: 'New', expectedVersion: 2 }, here)
      .thenRecords({ type: 'ScriptChanged', data: { ...id, version: 3, name: 'New' } });
  });

  test('keeps its version when disabled and enabled', () => {
    given(scriptAggregate, scriptCreated(), disabled, enabled)
      .when(save(file('x')), here)
      .thenRecords(saved(file('x'), 2));
  });
});

describe('a script with a file', () => {
  const script = given(scriptAggregate, scriptCreated({ files: [file('lib/a.py', 'a')] }));

  test('gets the next version when another file is saved', () => {
    script.when(save(file('main.py', 'b')), here).thenRecords(saved(file('main.py', 'b'), 2));
  });

  test('records nothing if the same content is saved', () => {
    script.when(save(file('lib/a.py', 'a')), here).thenRecordsNothing();
  });

  test.each(['', '..', '/x', 'a\\b', 'data/x', 'x'.repeat(256)])('refuses a file at %j', (path) => {
    script.when(save(file(path)), here).thenRefuses('invalid_path');
  });

  test.each(['lib', 'lib/a.py/b', 'lib/a.py/b/c'])(
    'refuses a file at %j, which conflicts with the other file',
    (path) => {
      script.when(save(file(path)), here).thenRefuses('invalid_path');
    },
  );

  test('accepts a file whose path only shares a prefix with another path', () => {
    script.when(save(file('lib/a')), here).thenRecords(saved(file('lib/a'), 2));
    script.when(save(file('li')), here).thenRecords(saved(file('li'), 2));
  });

  test('accepts new content if the expected hash matches the current content', () => {
    const next = file('lib/a.py', 'b');
    script.when(save(next, { sha256: 'a'.repeat(64) }), here).thenRecords(saved(next, 2));
  });

  test.each(['lib/a.py', 'lib/new.py'])(
    'refuses new content for %j if the expected hash does not match',
    (path) => {
      script
        .when(save(file(path, 'c'), { sha256: 'b'.repeat(64) }), here)
        .thenRefuses('version_mismatch');
    },
  );

  test('accepts a file of the maximum size, but no larger file', () => {
    const largest = file('big', 'b', maxFileBytes);
    script.when(save(largest), here).thenRecords(saved(largest, 2));
    script
      .when(save({ ...largest, sizeBytes: maxFileBytes + 1 }), here)
      .thenRefuses('payload_too_large');
  });
});

describe('a script that uses 60 of its 100 bytes', () => {
  const script = given(
    scriptAggregate,
    scriptCreated({ ...quota(100), files: [file('a', 'a', 60)] }),
  );

  test('accepts a file that exactly fills the quota', () => {
    script.when(save(file('b', 'b', 40)), here).thenRecords(saved(file('b', 'b', 40), 2));
  });

  test('refuses a file that exceeds the quota by one byte', () => {
    script.when(save(file('b', 'b', 41)), here).thenRefuses('storage_quota_exceeded');
  });

  test('does not count the content that a file replaces', () => {
    script.when(save(file('a', 'b', 100)), here).thenRecords(saved(file('a', 'b', 100), 2));
    script.when(save(file('a', 'b', 101)), here).thenRefuses('storage_quota_exceeded');
  });

  test('refuses additional content after the quota was lowered below the current usage', () => {
    given(scriptAggregate, scriptCreated({ ...quota(100), files: [file('a', 'a', 60)] }), {
      type: 'ScriptChanged',
      data: { ...id, version: 2, settings: { storageQuotaBytes: 50 } },
    })
      .when(save(file('b', 'b', 1)), here)
      .thenRefuses('storage_quota_exceeded');
  });
});

describe('a disabled script', () => {
  const script = given(scriptAggregate, scriptCreated(), disabled);

  test('records nothing when disabled again', () => {
    script.when({ type: 'DisableScript', ...id }, here).thenRecordsNothing();
  });

  test('can be enabled', () => {
    script.when({ type: 'EnableScript', ...id }, here).thenRecords(enabled);
  });

  test('accepts new files', () => {
    script.when(save(file('x')), here).thenRecords(saved(file('x'), 2));
  });
});

describe('a deleted script', () => {
  const script = given(scriptAggregate, scriptCreated(), deleted);

  test('cannot be created again, because its history remains', () => {
    script.when(createScript(), here).thenRefuses('already_exists');
  });

  test.each([
    { type: 'ChangeScript', ...id, name: 'New' },
    save(file('main.py', 'b')),
    { type: 'EnableScript', ...id },
    { type: 'DisableScript', ...id },
    { type: 'DeleteScript', ...id },
  ] as const)('refuses $type with not_found', (command) => {
    script.when(command, here).thenRefuses('not_found');
  });
});
