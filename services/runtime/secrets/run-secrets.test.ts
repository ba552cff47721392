import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import type { SecretSource } from '#domain/secret/events.ts';
import { groupId, runId, scriptId, secretStoreId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createScript,
  createSecretStore,
  runScript,
} from '#domain/testing/samples.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { SecretStores } from '#infra/secret-stores/secret-stores.ts';
import { sealSource } from '#infra/secrets/sealed-source.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunSecrets } from './run-secrets.ts';

let platform: TestPlatform;
let vault: Vault;
let secrets: RunSecrets;
let folder: string;
beforeAll(async () => {
  platform = await openTestPlatform();
  const { commands, pool, reads } = platform;
  vault = new Vault(pool, [randomBytes(32)], systemIds);
  folder = await mkdtemp(join(tmpdir(), 'secret-folder-'));
  const folders = [`mounted=${folder}`];
  const stores = new SecretStores({ vault, targets: new Targets([]), folders });
  secrets = new RunSecrets({ reads, vault, commands, ids: systemIds, stores });
  await platform.accepted(createGroup());
  await platform.accepted(
    createScript({ settings: { ...defaultSettings, maxConcurrentRuns: 50 } }),
  );
});
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

async function set(name: string, version: number, value: string): Promise<void> {
  const place = { scriptId: scriptId(), name, version };
  const sealed = await vault.seal(place, value);
  await platform.accepted({ type: 'SetSecret', ...place, asEnvironment: true, sealed });
}

/** Queues a run, or a rerun of the first run. */
async function queued(number: number, rerun?: { readonly exact?: true }): Promise<ClaimedRun> {
  const trigger = rerun && ({ type: 'rerun', runId: runId(1), ...rerun } as const);
  await platform.accepted(runScript({ runId: runId(number), ...(trigger && { trigger }) }));
  const claimed = { runId: runId(number), scriptId: scriptId(), correlationId: 'c' };
  return { ...claimed, triggerType: trigger?.type ?? 'manual' } as ClaimedRun;
}

test('an exact rerun receives the secret versions of the original run', async () => {
  await set('TOKEN', 1, 'original');
  await set('KEY', 1, 'deleted later');
  expect(await secrets.environmentOf(await queued(1))).toEqual({
    TOKEN: 'original',
    KEY: 'deleted later',
  });
  await set('TOKEN', 2, 'current');
  await set('NEW', 1, 'came later');
  const again = await queued(2, { exact: true });
  expect(await secrets.valueOf(again, 'TOKEN')).toBe('original');
  expect((await secrets.environmentOf(again))['TOKEN']).toBe('original');
  expect((await secrets.environmentOf(again))['NEW']).toBe('came later');
  expect(await secrets.valueOf(await queued(3, {}), 'TOKEN')).toBe('current');

  await platform.accepted({ type: 'DeleteSecret', scriptId: scriptId(), name: 'KEY' });
  const gone = /The secret "KEY", of which the original run used version 1, no longer exists/;
  await expect(secrets.environmentOf(again)).rejects.toThrow(gone);
  expect(await secrets.valueOf(again, 'TOKEN')).toBe('original');
  expect((await secrets.environmentOf(await queued(4, {})))['TOKEN']).toBe('current');
});

async function setForGroup(name: string, version: number, value: string): Promise<void> {
  const sealed = await vault.seal({ scriptId: groupId(), name, version }, value);
  const change = { name, version, asEnvironment: true, sealed };
  await platform.accepted({ type: 'SetGroupSecret', groupId: groupId(), ...change });
}

test('a run receives a group secret unless its script has a secret with the same name', async () => {
  await setForGroup('SHARED', 1, 'of the group');
  await setForGroup('TOKEN', 1, 'hidden by the one of the script');
  const first = await queued(5);
  expect(await secrets.environmentOf(first)).toMatchObject({
    SHARED: 'of the group',
    TOKEN: 'current',
  });
  expect(await secrets.valueOf(first, 'SHARED')).toBe('of the group');
  await setForGroup('SHARED', 2, 'rotated');
  expect(await secrets.valueOf(await queued(6), 'SHARED')).toBe('rotated');
});

test('a run in another group does not receive group secrets', async () => {
  await platform.accepted(createGroup({ groupId: groupId(2), name: 'Other group' }));
  await platform.accepted(createScript({ scriptId: scriptId(2), groupId: groupId(2) }));
  await platform.accepted(runScript({ runId: runId(20), scriptId: scriptId(2) }));
  const foreign = { ...(await queued(9)), runId: runId(20), scriptId: scriptId(2) };
  expect(await secrets.environmentOf(foreign)).toEqual({});
  expect(await secrets.valueOf(foreign, 'SHARED')).toBeUndefined();
});

test('an exact rerun receives the version of a group secret that the original run used', async () => {
  const trigger = { type: 'rerun', runId: runId(5), exact: true } as const;
  await platform.accepted(runScript({ runId: runId(7), trigger }));
  const again = { ...(await queued(8)), runId: runId(7), triggerType: 'rerun' } as ClaimedRun;
  expect(await secrets.valueOf(again, 'SHARED')).toBe('of the group');
  await platform.accepted({ type: 'DeleteGroupSecret', groupId: groupId(), name: 'SHARED' });
  await expect(secrets.valueOf(again, 'SHARED')).rejects.toThrow(/"SHARED".* no longer exists/);
});

const source: SecretSource = { storeId: secretStoreId(), path: '', key: 'password' };

async function setFromStore(name: string, version: number, changes = {}): Promise<void> {
  const from = { ...source, ...changes };
  const place = { scriptId: scriptId(), name, version };
  const sealed = await sealSource(vault, place, from);
  await platform.accepted({ type: 'SetSecret', ...place, sealed, source: from });
}

test('a run keeps the value that the external store contained when the run started', async () => {
  await platform.accepted(createSecretStore());
  await setFromStore('STORED', 1);
  await writeFile(join(folder, 'password'), 'first\n');
  const first = await queued(30);
  expect(await secrets.environmentOf(first)).not.toHaveProperty('STORED');
  const revision = await secrets.revisionOf(first);
  await writeFile(join(folder, 'password'), 'second');
  expect(await secrets.valueOf(first, 'STORED')).toBe('first');
  const second = await queued(31);
  expect(await secrets.valueOf(second, 'STORED')).toBe('second');
  expect(await secrets.revisionOf(second)).not.toBe(revision);
  expect(revision).not.toContain('first');
  const { rows } = await platform.pool.query<{ secrets: unknown }>(
    `SELECT data -> 'secrets' AS secrets FROM events WHERE stream_id = 'secret_use-' || $1
      AND data::text LIKE '%STORED%'`,
    [runId(30)],
  );
  const read = { name: 'STORED', version: 1, storeId: secretStoreId() };
  expect(rows.map((row) => row.secrets)).toContainEqual(expect.arrayContaining([read]));
});

test('a run does not start if the value of a secret that only the SDK reads is unavailable', async () => {
  await setFromStore('MISSING', 1, { key: 'missing' });
  const run = await queued(32);
  await expect(secrets.environmentOf(run)).rejects.toThrow(
    'The secret "MISSING" cannot be read from the secret store "Mounted secrets": the file does not exist.',
  );
  secrets.forget(run);
  await platform.accepted({ type: 'DeleteSecret', scriptId: scriptId(), name: 'MISSING' });
  await secrets.environmentOf(run);
});

test('a run in a group that may not use the external store receives no value', async () => {
  const change = { type: 'ChangeSecretStore', secretStoreId: secretStoreId() } as const;
  await platform.accepted({ ...change, groupIds: [groupId(2)] });
  await expect(secrets.environmentOf(await queued(33))).rejects.toThrow(
    "the script's group may not use the store",
  );
  await platform.accepted({ ...change, groupIds: [groupId()] });
  expect(await secrets.valueOf(await queued(34), 'STORED')).toBe('second');
});

test('a secret is unreadable after its store reference was removed in the database', async () => {
  await platform.pool.query(`UPDATE secrets SET source = NULL WHERE name = 'STORED'`);
  await expect(secrets.environmentOf(await queued(35))).resolves.toBeDefined();
  await expect(secrets.valueOf(await queued(36), 'STORED')).rejects.toThrow(
    'The secret "STORED" cannot be read',
  );
});
