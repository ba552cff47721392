import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { databaseTime } from '#infra/postgres/operations/purges.ts';
import { areRemovedSince, reportRuntime } from '#infra/postgres/queue/runtimes.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeFolder } from './environments/folders.ts';
import { givenEnvironments } from './environments/testing/fixture.ts';
import { removePurgedScripts, type PurgedScriptsDeps } from './purged-scripts.ts';

const [purged, other] = [scriptId(1), scriptId(2)];
const both = [purged, other];
const placeNames = ['data', 'files', 'projects', 'environments/cache'];

let platform: TestPlatform;
let folder: string;
let deps: PurgedScriptsDeps;
/** Scripts whose interpreters were stopped. */
let forgotten: string[];
beforeEach(async () => {
  platform = await openTestPlatform();
  folder = await mkdtemp(join(tmpdir(), 'orch-purged-'));
  const { environments } = await givenEnvironments({ folder: join(folder, 'environments') });
  const folders = ['data', 'files', 'projects'].map((name) => join(folder, name));
  const sandbox = {
    scripts: both,
    forget: (id: string) => Promise.resolve(void forgotten.push(id)),
  };
  forgotten = [];
  deps = { runtimeId: 'a', database: platform.pool, folders, environments, sandbox };
  const report = {
    slots: 1,
    running: 0,
    layers: [],
    python: null,
    labels: [],
    started_at: new Date(0),
  };
  await reportRuntime(platform.pool, { runtime_id: 'a', ...report });
  await platform.accepted(createGroup());
  for (const id of [purged, other]) await givenScript(id);
});
afterEach(async () => {
  await platform.close();
  await removeFolder(folder);
});

/** Creates a script with files in each place. Its data folder also contains a link to a path outside, which a script
 *  could create. */
async function givenScript(id: ScriptId): Promise<void> {
  await platform.accepted(createScript({ scriptId: id, settings: defaultSettings }));
  for (const place of placeNames) {
    await mkdir(join(folder, place, id, 'more'), { recursive: true });
    await writeFile(join(folder, place, id, 'more', 'file'), 'content');
  }
  await mkdir(join(folder, 'outside'), { recursive: true });
  await writeFile(join(folder, 'outside', 'file'), 'of another user');
  await symlink(join(folder, 'outside'), join(folder, 'data', id, 'link'));
}

async function purge(id: ScriptId): Promise<void> {
  await platform.accepted({ type: 'DeleteScript', scriptId: id });
  await platform.accepted({ type: 'PurgeScript', scriptId: id });
}

async function places(): Promise<readonly (readonly string[])[]> {
  return await Promise.all(placeNames.map((name) => readdir(join(folder, name))));
}

describe('a script with data on this machine', () => {
  test('keeps all data until it is purged', async () => {
    await platform.accepted({ type: 'DeleteScript', scriptId: purged });
    await removePurgedScripts(deps);
    expect(await places()).toEqual(placeNames.map(() => both));
    expect(forgotten).toEqual([]);
  });

  test('loses all data when purged, without following links or touching other scripts', async () => {
    await purge(purged);
    await removePurgedScripts(deps);
    await removePurgedScripts(deps);
    expect(await places()).toEqual(placeNames.map(() => [other]));
    expect(await readdir(join(folder, 'outside'))).toEqual(['file']);
    expect(new Set(forgotten)).toEqual(new Set([purged]));
  });

  test('loses files whose names are not valid text when purged', async () => {
    const name = Buffer.from([0xff, 0xfe]);
    const inData = Buffer.concat([Buffer.from(join(folder, 'data', purged, '/')), name]);
    await mkdir(inData);
    await writeFile(Buffer.concat([inData, Buffer.from('/'), name]), 'content');
    await purge(purged);
    await removePurgedScripts(deps);
    expect(await places()).toEqual(placeNames.map(() => [other]));
  });

  test('is recorded as removed only after all its data has been deleted, without delaying other scripts', async () => {
    const since = await databaseTime(platform.pool);
    for (const id of both) await purge(id);
    const sandbox = {
      scripts: both,
      forget: (id: string) =>
        id === purged ? Promise.reject(new Error('not now')) : Promise.resolve(),
    };
    await expect(removePurgedScripts({ ...deps, sandbox })).rejects.toThrow('could not be removed');
    expect(await places()).toEqual(placeNames.map(() => []));
    expect(await areRemovedSince(platform.pool, since)).toBe(false);
    await removePurgedScripts(deps);
    expect(await areRemovedSince(platform.pool, since)).toBe(true);
  });

  test('is not recorded as removed while its environment is in use', async () => {
    const since = await databaseTime(platform.pool);
    await purge(purged);
    const { environments: all } = deps;
    const environments = { scripts: () => all.scripts(), forget: () => Promise.resolve(false) };
    await removePurgedScripts({ ...deps, environments });
    expect(await areRemovedSince(platform.pool, since)).toBe(false);
  });

  test('keeps all data until its last run has ended', async () => {
    await platform.accepted(runScript({ runId: runId(), scriptId: purged }));
    await purge(purged);
    await removePurgedScripts(deps);
    expect(await places()).toEqual(placeNames.map(() => both));
    await platform.accepted({ type: 'StopRun', runId: runId() });
    await removePurgedScripts(deps);
    expect(await places()).toEqual(placeNames.map(() => [other]));
  });
});
