import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Targets } from '#infra/outgoing/targets.ts';
import { SecretStores } from '#infra/secret-stores/secret-stores.ts';
import { tablesWith } from '#infra/testing/stored-text.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, script, secretStore, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const path = '/api/v1/secret-stores';
const canary = 'canary-5d0c7b9a41';
const vault = {
  name: 'Vault',
  type: 'vault',
  group_ids: null,
  address: 'https://vault.example.com',
};
let platform: TestBackend;
let folder: string;
beforeAll(async () => {
  platform = await startTestBackend();
  folder = await mkdtemp(join(tmpdir(), 'secret-store-api-'));
  await mkdir(join(folder, 'team'));
  await writeFile(join(folder, 'team', 'password'), canary);
  const { vault: sealing } = platform.services;
  const folders = [`mounted=${folder}`];
  const stores = new SecretStores({ vault: sealing, targets: new Targets([]), folders });
  Object.assign(platform.services, { secretStores: stores });
});
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

describe('a secret store', () => {
  test('is created, changed and deleted without showing its credential', async () => {
    const { admin } = platform;
    const wanted = { ...vault, auth: 'app_role', role_id: 'role', credential: canary };
    const created = await admin.post(path, wanted);
    expect(created.status, created.text).toBe(201);
    expect(created.json).toMatchObject({
      type: 'vault',
      mount: 'secret',
      kv_version: 2,
      auth: 'app_role',
      auth_mount: 'approle',
      role_id: 'role',
      folder: null,
    });
    const at = `${path}/${created.json.id}`;
    const changed = await admin.patch(at, { mount: 'kv', kv_version: 1, group_ids: [groups.bots] });
    expect(changed.json).toMatchObject({ mount: 'kv', kv_version: 1, group_ids: [groups.bots] });
    const listed = await admin.get(path);
    expect(created.text + changed.text + listed.text).not.toContain(canary);
    expect(await tablesWith(platform.pool, [canary])).toEqual([]);
    expect((await admin.delete(at)).status).toBe(204);
    expect((await admin.get(at)).status).toBe(404);
  });

  test.each([
    [{ ...vault }, 'credential'],
    [{ ...vault, credential: 'x', folder: 'mounted' }, 'folder'],
    [{ ...vault, credential: 'x', auth: 'app_role' }, 'role_id'],
    [{ ...vault, credential: 'x', address: 'http://vault.example.com' }, 'https'],
    [{ ...vault, credential: 'x', address: undefined }, 'address'],
    [{ ...vault, credential: 'x', mount: '../sys' }, 'mount path'],
    [{ name: 'Files', type: 'files', group_ids: null }, 'folder'],
    [{ name: 'Files', type: 'files', group_ids: null, folder: '/etc' }, 'folder'],
    [{ name: 'Files', type: 'files', group_ids: null, folder: 'x', credential: 'x' }, 'credential'],
    [{ name: 'Files', type: 'files', folder: 'mounted' }, 'group_ids'],
  ])('is refused with the settings %j', async (body, reason) => {
    const { status, text } = await platform.admin.post(path, body);
    expect(status).toBe(422);
    expect(text).toContain(reason);
  });

  test('must have a unique name', async () => {
    const { admin } = platform;
    const wanted = { name: 'Mounted', type: 'files', group_ids: null, folder: 'mounted' };
    const requests = ['Mounted', 'MOUNTED'].map((name) => admin.post(path, { ...wanted, name }));
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    const other = await admin.post(path, { ...wanted, name: 'Mounted too' });
    expect(other.status, other.text).toBe(201);
    const at = `${path}/${other.json.id}`;
    const renamed = await admin.patch(at, { name: 'mounted' });
    expect([renamed.status, renamed.json.code]).toEqual([409, 'already_exists']);
    expect(renamed.json.detail).toBe('Another secret store already has this name.');
    expect((await admin.patch(at, { name: 'MOUNTED TOO' })).status).toBe(200);
    for (const { json } of [...answers.filter(({ status }) => status === 201), other])
      expect((await admin.delete(`${path}/${json.id}`)).status).toBe(204);
    const again = await admin.post(path, wanted);
    expect(again.status).toBe(201);
    await admin.delete(`${path}/${again.json.id}`);
  });

  test('does not send its credential to another address', async () => {
    const created = await platform.admin.post(path, { ...vault, credential: canary });
    const at = `${path}/${created.json.id}`;
    const address = 'https://attacker.example.com';
    expect((await platform.admin.patch(at, { address })).status).toBe(422);
    expect((await platform.admin.patch(at, { address, credential: 'new' })).status).toBe(200);
  });

  test('is visible to members of its groups, but without its settings', async () => {
    const developer = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    const shared = await secretStore(platform.admin, { group_ids: [groups.bots, groups.custom] });
    const other = await secretStore(platform.admin, { group_ids: [groups.custom] });
    const { json } = await developer.get(`${path}/${shared}`);
    expect(json).toMatchObject({ id: shared, folder: null, group_ids: [groups.bots] });
    expect((await developer.get(`${path}/${other}`)).status).toBe(404);
    const ids = (await developer.get(path)).json.items.map(({ id }: { id: string }) => id);
    expect(ids).toContain(shared);
    expect(ids).not.toContain(other);
  });

  test.each([
    [{}, { ok: true, detail: null }],
    [
      { path: 'team', key: 'password' },
      { ok: true, detail: null },
    ],
    [
      { path: 'team', key: 'absent' },
      { ok: false, detail: 'the file does not exist' },
    ],
    [
      { path: '..', key: 'x' },
      { ok: false, detail: 'the path must not contain "." or ".."' },
    ],
  ])('returns the result of a test with %j', async (body, result) => {
    const id = await secretStore(platform.admin);
    const { json } = await platform.admin.post(`${path}/${id}/test`, body);
    expect(json).toEqual(result);
  });

  test('reports an unconfigured folder or a private address when tested', async () => {
    const id = await secretStore(platform.admin, { folder: 'unknown' });
    const files = await platform.admin.post(`${path}/${id}/test`, {});
    expect(files.json.detail).toContain('ORCH_SECRET_FOLDERS');
    const loopback = {
      ...vault,
      name: 'Loopback',
      address: 'http://127.0.0.1:9',
      credential: canary,
    };
    const created = await platform.admin.post(path, loopback);
    const { json, text } = await platform.admin.post(`${path}/${created.json.id}/test`, {});
    expect(json.detail).toContain('ORCH_ALLOW_PRIVATE_TARGETS');
    expect(text).not.toContain(canary);
  });
});

describe('a secret in a store', () => {
  test.each(['script', 'group'] as const)('is set for a %s by its path and key', async (kind) => {
    const { admin } = platform;
    const store = await secretStore(admin);
    const { id } = kind === 'script' ? await script(admin) : { id: groups.bots };
    const at = `/api/v1/${kind}s/${id}/secrets/FROM_STORE`;
    const set = await admin.put(at, { store, path: 'team', key: 'password', as_environment: true });
    expect(set.status, set.text).toBe(200);
    const place = { store, path: 'team', key: 'password', rotate_after_days: null };
    expect(set.json).toMatchObject(place);
    const refused = await admin.delete(`${path}/${store}`);
    expect([refused.status, refused.json.code]).toEqual([409, 'secret_store_in_use']);
    expect(refused.json.detail).toContain(`FROM_STORE of the ${kind}`);
    expect(await tablesWith(platform.pool, [canary])).toEqual([]);
    const value = await admin.put(at, { value: 'a stored value' });
    expect(value.json).toMatchObject({ store: null, path: null, key: null, version: 2 });
    expect((await admin.delete(`${path}/${store}`)).status).toBe(204);
  });

  test.each([
    [{}, 'value'],
    [{ path: 'team', key: 'password' }, 'store'],
    [{ store: groups.bots }, 'key'],
    [{ store: groups.bots, key: 'password' }, 'does not exist'],
    [{ store: 'x', key: 'password' }, 'store'],
  ])('is refused with the content %j', async (body, reason) => {
    const { id } = await script(platform.admin);
    const { status, text } = await platform.admin.put(`/api/v1/scripts/${id}/secrets/A`, body);
    expect(status).toBe(422);
    expect(text).toContain(reason);
  });

  test.each([
    [{ path: 'a/../b', key: 'c' }],
    [{ path: 'a', key: 'b/c' }],
    [{ path: 'a', key: 'b', value: 'x' }],
    [{ path: 'a', key: 'b', rotate_after_days: 3 }],
  ])('is refused with an existing store and %j', async (body) => {
    const store = await secretStore(platform.admin);
    const { id } = await script(platform.admin);
    const at = `/api/v1/scripts/${id}/secrets/A`;
    expect((await platform.admin.put(at, { store, ...body })).status).toBe(422);
  });

  test('is refused if the group may not use the store', async () => {
    const developer = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    const store = await secretStore(platform.admin, { group_ids: [groups.custom] });
    const { id } = await script(developer, { group_id: groups.bots });
    for (const at of [`/api/v1/scripts/${id}`, `/api/v1/groups/${groups.bots}`]) {
      const set = await developer.put(`${at}/secrets/A`, { store, path: 'team', key: 'password' });
      expect([set.status, set.json.code]).toEqual([422, 'validation_failed']);
    }
  });
});
