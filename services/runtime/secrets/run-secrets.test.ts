import { randomBytes } from 'node:crypto';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunSecrets } from './run-secrets.ts';

let platform: TestPlatform;
let vault: Vault;
let secrets: RunSecrets;
beforeAll(async () => {
  platform = await openTestPlatform();
  const { commands, pool, reads } = platform;
  vault = new Vault(pool, [randomBytes(32)], systemIds);
  secrets = new RunSecrets({ reads, vault, commands, ids: systemIds });
  await platform.accepted(createGroup());
  await platform.accepted(createScript({ settings: { ...defaultSettings, maxConcurrentRuns: 9 } }));
});
afterAll(() => platform.close());

async function set(name: string, version: number, value: string): Promise<void> {
  const place = { scriptId: scriptId(), name, version };
  const sealed = await vault.seal(place, value);
  await platform.accepted({ type: 'SetSecret', ...place, asEnvironment: true, sealed });
}

/** A run that was requested, or that repeats the first one. */
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

test('a run receives the secrets of its group, unless its script has a secret with the same name', async () => {
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

test('a run of another group receives no secret of the group', async () => {
  await platform.accepted(createGroup({ groupId: groupId(2), name: 'Other group' }));
  await platform.accepted(createScript({ scriptId: scriptId(2), groupId: groupId(2) }));
  await platform.accepted(runScript({ runId: runId(20), scriptId: scriptId(2) }));
  const foreign = { ...(await queued(9)), runId: runId(20), scriptId: scriptId(2) };
  expect(await secrets.environmentOf(foreign)).toEqual({});
  expect(await secrets.valueOf(foreign, 'SHARED')).toBeUndefined();
});

test('an exact rerun receives the version of the group secret that the original run used', async () => {
  const trigger = { type: 'rerun', runId: runId(5), exact: true } as const;
  await platform.accepted(runScript({ runId: runId(7), trigger }));
  const again = { ...(await queued(8)), runId: runId(7), triggerType: 'rerun' } as ClaimedRun;
  expect(await secrets.valueOf(again, 'SHARED')).toBe('of the group');
  await platform.accepted({ type: 'DeleteGroupSecret', groupId: groupId(), name: 'SHARED' });
  await expect(secrets.valueOf(again, 'SHARED')).rejects.toThrow(/"SHARED".* no longer exists/);
});
