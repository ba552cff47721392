import type { Command } from '#domain/aggregates.ts';
import { defaultLimits, defaultRetry, defaultSettings } from '#domain/script/settings.ts';
import { groupId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, file } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { scriptFilesProjection, scriptsProjection } from './apply.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const id = { scriptId: scriptId() };

/** Returns the rows after these commands. Before the commands, the third event creates a script. */
async function rowsOnce(...commands: readonly Command[]) {
  const events = await recordAll([...beginning, ...commands]);
  const rows = await rowsAfter(reads.db, [scriptsProjection, scriptFilesProjection], [events]);
  return { script: rows['scripts']?.[0], scripts: rows['scripts'], files: rows['script_files'] };
}

function saved(path: string, letter: string, version: number, place: number) {
  const { sha256, sizeBytes } = file(path, letter);
  const row = { path, version, sha256, size_bytes: sizeBytes, saved_at: at(place) };
  return { script_id: scriptId(), ...row };
}

describe('the rows of a script', () => {
  test('include one for the script and one for each file', async () => {
    const { scripts, files } = await rowsOnce();
    expect(scripts).toEqual([
      {
        script_id: scriptId(),
        stream_version: 1,
        name: 'Report',
        description: 'Counts things.',
        group_id: groupId(),
        enabled: true,
        deleted: false,
        max_concurrent_runs: 1,
        storage_quota_bytes: defaultSettings.storageQuotaBytes,
        entrypoint: 'main.py',
        limits: defaultLimits,
        tags: [],
        retry: defaultRetry,
        keep_alive: false,
        environment: {},
        purge: null,
        python: null,
        start_mode: 'warm',
        resident: defaultSettings.resident,
        merge_stderr: false,
        listen_ports: [],
        runs_on: [],
        pools: [],
        protected: { run: false, save: false },
        expectations: [],
        expectations_since: null,
        parameters_schema: null,
        resolution: null,
        source: null,
        version: 1,
        created_at: at(3),
        created_by: 'anonymous',
        updated_at: at(3),
        updated_by: 'anonymous',
      },
    ]);
    expect(files).toEqual([saved('main.py', 'a', 1, 3)]);
  });

  test('keep settings that a change omits', async () => {
    const limits = { ...defaultLimits, cpu_seconds: null };
    const { script } = await rowsOnce(
      { type: 'ChangeScript', ...id, name: 'New', settings: { limits, tags: ['a', 'b "c"'] } },
      { type: 'ChangeScript', ...id, groupId: groupId(2), settings: { maxConcurrentRuns: 4 } },
    );
    expect(script).toMatchObject({
      stream_version: 3,
      name: 'New',
      description: 'Counts things.',
      group_id: groupId(2),
      max_concurrent_runs: 4,
      storage_quota_bytes: defaultSettings.storageQuotaBytes,
      entrypoint: 'main.py',
      limits,
      tags: ['a', 'b "c"'],
      version: 3,
      created_at: at(3),
      created_by: 'anonymous',
      updated_at: at(5),
      updated_by: 'runtime',
    });
  });

  test('include every version of each saved file', async () => {
    const { script, files } = await rowsOnce(
      { type: 'SaveFile', ...id, ...file('main.py', 'b') },
      { type: 'SaveFile', ...id, ...file('lib/é.py', 'c') },
    );
    expect(script).toMatchObject({ version: 3, stream_version: 3, updated_at: at(5) });
    expect(files).toHaveLength(3);
    expect(files).toEqual(
      expect.arrayContaining([
        saved('main.py', 'a', 1, 3),
        saved('main.py', 'b', 2, 4),
        saved('lib/é.py', 'c', 3, 5),
      ]),
    );
  });

  test('include the files of earlier versions after moves and deletions', async () => {
    const { script, files } = await rowsOnce(
      { type: 'SaveFile', ...id, ...file('a.py', 'b') },
      { type: 'MoveFile', ...id, path: 'a.py', to: 'b.py' },
      { type: 'DeleteFile', ...id, path: 'b.py' },
    );
    expect(script).toMatchObject({ version: 4, stream_version: 4, updated_at: at(6) });
    const gone = (path: string, version: number, place: number) => ({
      ...saved(path, 'x', version, place),
      sha256: null,
      size_bytes: 0,
    });
    expect(files).toHaveLength(5);
    expect(files).toEqual(
      expect.arrayContaining([
        saved('main.py', 'a', 1, 3),
        saved('a.py', 'b', 2, 4),
        gone('a.py', 3, 5),
        saved('b.py', 'b', 3, 5),
        gone('b.py', 4, 6),
      ]),
    );
  });

  test('are no longer marked as deleted after the script was restored', async () => {
    const { script } = await rowsOnce(
      { type: 'DeleteScript', ...id },
      { type: 'RestoreScript', ...id },
    );
    expect(script).toMatchObject({ deleted: false, version: 1, stream_version: 3 });
  });

  test('show whether the script is enabled, without a new version', async () => {
    const disabled = await rowsOnce({ type: 'DisableScript', ...id });
    expect(disabled.script).toMatchObject({ enabled: false, version: 1, stream_version: 2 });
    const enabled = await rowsOnce(
      { type: 'DisableScript', ...id },
      { type: 'EnableScript', ...id },
    );
    expect(enabled.script).toMatchObject({ enabled: true, version: 1, stream_version: 3 });
  });

  test('are kept and marked as deleted when the script is deleted', async () => {
    const { script, files } = await rowsOnce({ type: 'DeleteScript', ...id });
    expect(script).toMatchObject({ deleted: true, name: 'Report' });
    expect(files).toHaveLength(1);
  });
});

describe('several scripts', () => {
  test('are not affected by changes to another script', async () => {
    const { scripts } = await rowsOnce(
      createScript({ scriptId: scriptId(2), name: 'Other' }),
      { type: 'ChangeScript', ...id, name: 'New' },
      { type: 'DeleteScript', scriptId: scriptId(2) },
    );
    expect(scripts).toMatchObject([
      { script_id: scriptId(1), name: 'New', deleted: false },
      { script_id: scriptId(2), name: 'Other', deleted: true },
    ]);
  });
});
