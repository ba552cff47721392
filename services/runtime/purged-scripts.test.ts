import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeFolder } from './environments/folders.ts';
import { givenEnvironments } from './environments/testing/fixture.ts';
import { removePurgedScripts, type PurgedScriptsParts } from './purged-scripts.ts';

const [purged, other] = [scriptId(1), scriptId(2)];
const both = [purged, other];
const placeNames = ['data', 'files', 'projects', 'environments/cache'];

let platform: TestPlatform;
let folder: string;
let parts: PurgedScriptsParts;
/** Whose interpreters were ended. */
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
  parts = { database: platform.pool, folders, environments, sandbox };
  await platform.accepted(createGroup());
  for (const id of [purged, other]) await givenScript(id);
});
afterEach(async () => {
  await platform.close();
  await removeFolder(folder);
});

/** A script with something in every place; the data has a link out, as a script can plant one. */
async function givenScript(id: ScriptId): Promise<void> {
  await platform.accepted(createScript({ scriptId: id, settings: defaultSettings }));
  for (const place of placeNames) {
    await mkdir(join(folder, place, id, 'more'), { recursive: true });
    await writeFile(join(folder, place, id, 'more', 'file'), 'content');
  }
  await mkdir(join(folder, 'outside'), { recursive: true });
  await writeFile(join(folder, 'outside', 'file'), 'of somebody else');
  await symlink(join(folder, 'outside'), join(folder, 'data', id, 'link'));
}

async function places(): Promise<readonly (readonly string[])[]> {
  return await Promise.all(placeNames.map((name) => readdir(join(folder, name))));
}

describe('given a script of which this machine keeps something', () => {
  test('when it is there or only deleted, then all of it stays', async () => {
    await platform.accepted({ type: 'DeleteScript', scriptId: purged });
    await removePurgedScripts(parts);
    expect(await places()).toEqual(placeNames.map(() => both));
    expect(forgotten).toEqual([]);
  });

  test('when it is purged, then all of it goes, nothing behind a link, and nothing of others', async () => {
    await platform.accepted({ type: 'DeleteScript', scriptId: purged });
    await platform.accepted({ type: 'PurgeScript', scriptId: purged });
    await removePurgedScripts(parts);
    await removePurgedScripts(parts);
    expect(await places()).toEqual(placeNames.map(() => [other]));
    expect(await readdir(join(folder, 'outside'))).toEqual(['file']);
    expect(new Set(forgotten)).toEqual(new Set([purged]));
  });

  test('when a run of it has not ended, then all of it stays until then', async () => {
    await platform.accepted(runScript({ runId: runId(), scriptId: purged }));
    await platform.accepted({ type: 'DeleteScript', scriptId: purged });
    await platform.accepted({ type: 'PurgeScript', scriptId: purged });
    await removePurgedScripts(parts);
    expect(await places()).toEqual(placeNames.map(() => both));
    await platform.accepted({ type: 'StopRun', runId: runId() });
    await removePurgedScripts(parts);
    expect(await places()).toEqual(placeNames.map(() => [other]));
  });
});
