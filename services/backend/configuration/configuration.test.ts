// Long because the tests of one document share two installations.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channel, chain, groups, notificationRule, script, webhook } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let other: TestBackend;
let admin: TestClient;
beforeAll(async () => {
  [platform, other] = await Promise.all([startTestBackend(), startTestBackend()]);
  admin = platform.admin;
});
afterAll(() => Promise.all([platform.close(), other.close()]));

const path = '/api/v1/system/config';
const head = { format: 'orchestrator-configuration', format_version: 1 };
/** IDs of resources that do not exist. */
const idOf = (number: number) => `019bb000-0000-7000-8000-${String(number).padStart(12, '0')}`;

async function exported(client = admin): Promise<string> {
  const answer = await client.get(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}

async function imported(document: object | string, query = '', client = admin) {
  const body = typeof document === 'string' ? document : JSON.stringify({ ...head, ...document });
  const headers = { 'Content-Type': 'application/json' };
  return await client.send('POST', `${path}${query}`, body, { headers });
}

async function done(document: object | string, query = '', client = admin) {
  const answer = await imported(document, query, client);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

const pointersOf = (json: { errors: readonly { pointer: string }[] }) =>
  json.errors.map(({ pointer }) => pointer);

describe('an installation with one resource of each kind', () => {
  test('is exported without secrets, with an audit entry', async () => {
    const { id } = await script(admin, { name: 'Report', environment: { LEVEL: 'debug' } });
    await admin.put(`/api/v1/scripts/${id}/secrets/TOKEN`, { value: 'canary-of-a-script' });
    await admin.putBytes(`/api/v1/scripts/${id}/files/data.bin`, new Uint8Array([0, 255, 1]));
    const target = await script(admin, { name: 'Target' });
    await admin.post('/api/v1/schedules', { script_id: id, cron: '@daily', params: { limit: 3 } });
    const { token } = await webhook(admin, id, { signing: true });
    await chain(admin, id, target.id);
    const mail = await channel(admin, {
      kind: 'email',
      config: {
        host: 'mail.example.com',
        username: 'me',
        password: 'canary-of-a-channel',
        from: 'a@example.com',
        to: ['b@example.com'],
      },
    });
    await notificationRule(admin, mail, { script_ids: [id] });
    const text = await exported();
    expect(await exported()).toBe(text);
    for (const value of ['canary-of-a-script', 'canary-of-a-channel', token, 'whsec_', 'sealed']) {
      expect(text).not.toContain(value);
    }
    const document = JSON.parse(text);
    expect(Object.keys(document).join(' ')).toBe(
      'format format_version groups secret_stores pools scripts channels rules calendars schedules ' +
        'webhooks chains retention',
    );
    const report = document.scripts.find((one: { name: string }) => one.name === 'Report');
    expect(report).toMatchObject({ secrets: ['TOKEN'], environment: { LEVEL: 'debug' } });
    expect(report.files).toMatchObject([
      { path: 'data.bin', encoding: 'base64', content: 'AP8B' },
      { path: 'main.py', encoding: 'utf-8' },
    ]);
    const { rows } = await platform.pool.query(
      `SELECT data FROM events WHERE type = 'DataDisclosed' ORDER BY global_position DESC LIMIT 1`,
    );
    expect(rows).toMatchObject([{ data: { action: 'configuration_exported' } }]);
    expect((await admin.get(`${path}?files=false`)).json.scripts[0]).not.toHaveProperty('files');
  });

  test('imports its own export without changes', async () => {
    const { rows: before } = await platform.pool.query('SELECT count(*) FROM events');
    const { counts, missing_secrets } = await done(await exported(), '?prune=true');
    expect(counts).toMatchObject({ create: 0, change: 0, delete: 0, absent: 0 });
    expect(missing_secrets).toEqual([]);
    // The export itself is in the audit trail.
    const { rows: after } = await platform.pool.query('SELECT count(*) FROM events');
    expect(Number(after[0].count) - Number(before[0].count)).toBe(1);
  });

  test('lists the secrets that must be entered after an import into an empty installation', async () => {
    const text = await exported();
    const made = await done(text, '', other.admin);
    expect(made.missing_secrets.map(({ kind, secrets }: never) => [kind, secrets])).toEqual([
      ['script', ['TOKEN']],
      ['channel', ['password']],
    ]);
    const [shown] = made.shown_once;
    expect(shown).toMatchObject({
      kind: 'webhook',
      token: expect.stringMatching(/^whk_/),
      url: `${other.origin}/hooks/${shown.token}`,
      signing_secret: expect.stringMatching(/^whsec_/),
    });
    expect((await done(text, '', other.admin)).counts).toMatchObject({ create: 0, change: 0 });
    const there = JSON.parse(await exported(other.admin));
    expect(there.channels).toMatchObject([{ enabled: false }]);
    // Both configurations are equal, except for fields that require a secret.
    const same = JSON.parse(text);
    same.channels[0].enabled = false;
    for (const one of same.scripts) one.secrets = [];
    expect(there).toEqual(same);
  });

  test('can be exported as of an earlier time, and restored by an import', async () => {
    const before = await exported();
    const { rows } = await platform.pool.query(
      'SELECT max(global_position) AS position FROM events',
    );
    const at = String(rows[0].position);
    const { scripts, schedules, webhooks, rules } = JSON.parse(before);
    const [{ id: scriptId }] = scripts;
    await admin.patch(`/api/v1/scripts/${scriptId}`, { name: 'Renamed', tags: ['late'] });
    await admin.putBytes(`/api/v1/scripts/${scriptId}/files/main.py`, Buffer.from('late'));
    await admin.delete(`/api/v1/schedules/${schedules[0].id}`);
    await admin.patch(`/api/v1/webhooks/${webhooks[0].id}`, { enabled: false });
    await admin.delete(`/api/v1/notifications/rules/${rules[0].id}`);
    await admin.delete(`/api/v1/scripts/${scripts[1].id}`);
    await script(admin, { name: 'Late' });
    await admin.post('/api/v1/groups', { name: 'Later' });
    expect(await exported()).not.toBe(before);
    const then = await admin.get(`${path}?at=${at}`);
    expect(then.status, then.text).toBe(200);
    expect(then.text).toBe(before);
    await done(then.text, '?prune=true');
    const after = JSON.parse(await exported());
    const same = JSON.parse(before);
    // An import restores permanently deleted resources under another ID.
    for (const one of [...same.schedules, ...same.rules, ...after.schedules, ...after.rules])
      delete one.id;
    expect({ ...after, groups: [] }).toEqual({ ...same, groups: [] });
  });

  test.each(['tomorrow', '99999999', '2999-01-01T00:00:00Z'])(
    'cannot be exported as of %s',
    async (at) => {
      expect((await admin.get(`${path}?at=${at}`)).json).toMatchObject({
        code: 'invalid_parameter',
      });
    },
  );
});

describe('a document', () => {
  test('reports its differences in a dry run, and changes nothing', async () => {
    const { id } = await script(admin, { name: 'Before' });
    const before = await exported();
    const wanted = {
      scripts: [
        {
          id,
          name: 'After',
          limits: { memory_bytes: 1048576 },
          files: [{ path: 'new.py', content: 'pass' }],
        },
      ],
      groups: [{ id: idOf(1), name: 'Made' }],
    };
    const told = await done(wanted, '?dry_run=true');
    expect(told.dry_run).toBe(true);
    expect(told.items.filter((one: { action: string }) => one.action !== 'absent')).toMatchObject([
      { kind: 'group', id: idOf(1), name: 'Made', action: 'create' },
      {
        kind: 'script',
        id,
        name: 'After',
        action: 'change',
        changes: [
          { field: 'name', from: 'Before', to: 'After' },
          { field: 'limits.memory_bytes', from: 1073741824, to: 1048576 },
          { field: 'files/new.py', from: null, to: { size_bytes: 4 } },
        ],
      },
    ]);
    expect(await exported()).toBe(before);
    await done(wanted);
    const script_ = (await admin.get(`/api/v1/scripts/${id}`)).json;
    expect(script_).toMatchObject({ name: 'After', limits: { memory_bytes: 1048576 } });
    expect((await admin.get(`/api/v1/scripts/${id}/files/new.py`)).text).toBe('pass');
    const { rows } = await platform.pool.query(
      `SELECT DISTINCT metadata -> 'actor' ->> 'email' AS email FROM events WHERE stream_id = $1`,
      [`group-${idOf(1)}`],
    );
    expect(rows).toEqual([{ email: 'admin@example.com' }]);
  });

  test('keeps resources that it omits, and deletes them on request', async () => {
    const { id } = await script(admin, { name: 'Goes', group_id: groups.bots });
    const document = JSON.parse(await exported());
    document.scripts = document.scripts.filter((one: { id: string }) => one.id !== id);
    document.groups = document.groups.filter((one: { id: string }) => one.id !== groups.bots);
    const kept = await done(document);
    expect(kept.counts).toMatchObject({ change: 0, delete: 0, absent: 2 });
    const gone = await done(document, '?prune=true');
    expect(gone.counts).toMatchObject({ change: 0, delete: 1, absent: 1 });
    expect(gone.items).toContainEqual(
      expect.objectContaining({ name: 'bots', note: expect.stringContaining('Not deleted') }),
    );
    expect((await admin.get(`/api/v1/scripts/${id}`)).status).toBe(404);
  });

  test('restores a deleted script, and changes nothing when imported again', async () => {
    const { id } = await script(admin, { name: 'Deleted' });
    const { id: webhookId } = await webhook(admin, id);
    const document = await exported();
    await admin.delete(`/api/v1/webhooks/${webhookId}`);
    await admin.delete(`/api/v1/scripts/${id}`);
    const back = await done(document);
    expect(back.counts).toMatchObject({ create: 1, change: 1 });
    const [restored] = back.items.filter((one: { action: string }) => one.action === 'change');
    expect(restored.changes).toEqual([{ field: 'deleted', from: true, to: false }]);
    const hooks = (await admin.get(`/api/v1/webhooks?script_id=${id}`)).json.items;
    expect(hooks).toHaveLength(1);
    expect(hooks[0].id).not.toBe(webhookId);
    expect((await done(document)).counts).toMatchObject({ create: 0, change: 0 });
  });

  test('recreates deleted resources of each kind with new IDs', async () => {
    const { id } = await script(admin, { name: 'Source' });
    const target = await script(admin, { name: 'Target of a chain' });
    const before = await exported();
    const store = { name: 'again', type: 'vault', address: 'https://vault.example.com' };
    const config = { service: 'telegram', chat_id: '1' };
    const made = {
      groups: [{ id: idOf(20), name: 'Again' }],
      secret_stores: [{ id: idOf(21), group_ids: [idOf(20)], ...store }],
      pools: [{ id: idOf(22), name: 'again', limit: 1 }],
      channels: [{ id: idOf(23), name: 'Again', kind: 'messaging', config }],
      rules: [{ id: idOf(24), name: 'Again', on: ['failed'], channel_ids: [idOf(23)] }],
      calendars: [
        { id: idOf(25), name: 'Again', periods: [], covered_until: '2030-01-01T00:00:00Z' },
      ],
      schedules: [{ id: idOf(26), script_id: id, cron: '0 6 * * *', calendar_id: idOf(25) }],
      webhooks: [{ id: idOf(27), script_id: id, name: 'Again' }],
      chains: [{ id: idOf(28), source_script_id: id, target_script_id: target.id }],
    };
    const { length } = Object.keys(made);
    await done(made);
    const deleteAll = async () => {
      // The first import keeps resources that other resources use.
      await done(before, '?prune=true');
      await done(before, '?prune=true');
      expect(await exported()).toBe(before);
    };
    await deleteAll();
    const { counts, items } = await done(made);
    expect(counts).toMatchObject({ create: length, change: 0 });
    const given = Object.values(made).map(([one]) => one?.id);
    for (const one of items.filter(({ action }: { action: string }) => action === 'create'))
      expect(given).not.toContain(one.id);
    expect((await done(made)).counts).toMatchObject({ create: 0, change: 0 });
    await deleteAll();
  });

  test("keeps a channel's secret if the target is unchanged, and adds a missing secret", async () => {
    const id = await channel(admin, {
      kind: 'messaging',
      config: { service: 'telegram', chat_id: '1', token: 'first:one' },
    });
    const config = { service: 'telegram', chat_id: '2' };
    const entry = { id, name: 'on call', kind: 'messaging', config };
    expect((await done({ channels: [entry] })).missing_secrets).toEqual([]);
    const entered = { channels: [{ ...entry, config: { ...config, token: 'other:one' } }] };
    const told = await done(entered, '?dry_run=true');
    expect(JSON.stringify(told)).not.toContain('other:one');
    expect(told.counts.change).toBe(1);
    await done(entered);
    expect((await done(entered)).counts.change).toBe(0);
  });
});

describe('an invalid document', () => {
  const group = { id: idOf(50), name: 'Never' };
  const missing = idOf(99);

  test.each([
    ['no JSON', '{"format', 400, undefined],
    ['another document', '{"format":"other"}', 422, ['/format']],
    ['a newer format', { format_version: 2 }, 422, ['/format_version']],
    ['an unknown key', { groups: [{ ...group, shade: 1 }] }, 422, ['/groups/0/shade']],
    ['an unknown section', { users: [] }, 422, ['/users']],
    ['no id', { groups: [{ name: 'x' }] }, 422, ['/groups/0/id']],
    ['the same ID twice', { groups: [group, group] }, 422, ['/groups/1/id']],
    [
      'a value for a secret',
      { scripts: [{ id: missing, name: 'x', secrets: [{ name: 'TOKEN', value: 'x' }] }] },
      422,
      ['/scripts/0/secrets/0'],
    ],
    [
      'content that is not base64',
      {
        scripts: [
          { id: missing, name: 'x', files: [{ path: 'a', encoding: 'base64', content: '?' }] },
        ],
      },
      422,
      ['/scripts/0/files/0/content'],
    ],
    [
      'an invalid cron expression',
      { schedules: [{ id: missing, script_id: missing, cron: 'x' }] },
      422,
      ['/schedules/0/cron'],
    ],
    [
      'an unknown group',
      { scripts: [{ id: missing, name: 'x', group_id: missing }] },
      422,
      ['/scripts/0'],
    ],
    [
      'a path that leaves the folder',
      { scripts: [{ id: missing, name: 'x', files: [{ path: '../a', content: '' }] }] },
      422,
      ['/scripts/0'],
    ],
    [
      'an invalid channel URL',
      { channels: [{ id: missing, name: 'x', kind: 'webhook', config: { url: 'nowhere' } }] },
      422,
      ['/channels/0/config/url'],
    ],
  ])(
    'with %s is refused with the location of the error, and changes nothing',
    async (_, document, status, pointers) => {
      const before = await exported();
      const body = typeof document === 'string' ? document : { groups: [group], ...document };
      for (const query of ['?dry_run=true', '']) {
        const answer = await imported(body, query);
        expect(answer.status, answer.text).toBe(status);
        if (pointers !== undefined) expect(pointersOf(answer.json)).toEqual(pointers);
      }
      expect(await exported()).toBe(before);
    },
  );

  test('with a cycle of chains is refused at the last chain, and creates nothing', async () => {
    const [one, two] = [idOf(60), idOf(61)];
    const link = (id: number, source: string, target: string) => ({
      id: idOf(id),
      source_script_id: source,
      target_script_id: target,
    });
    const answer = await imported({
      scripts: [
        { id: one, name: 'One' },
        { id: two, name: 'Two' },
      ],
      chains: [link(62, one, two), link(63, two, one)],
    });
    expect([answer.status, pointersOf(answer.json)]).toEqual([422, ['/chains/1']]);
    expect((await admin.get(`/api/v1/scripts/${one}`)).status).toBe(404);
  });

  test('that fails midway changes nothing', async () => {
    const before = await exported();
    const { commands } = platform.services;
    const executeAll = commands.executeAll.bind(commands);
    commands.executeAll = async (requests, options) => {
      const broken = { ...requests.at(-1)?.command, groupId: 'no id' };
      const last = { ...requests.at(-1), command: broken } as (typeof requests)[number];
      return await executeAll(options?.tryOnly === true ? requests : [...requests, last], options);
    };
    const both = [group, { id: idOf(51), name: 'Neither' }];
    const { status } = await fetch(`${platform.origin}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...head, groups: both }),
    });
    expect(status).toBe(500);
    commands.executeAll = executeAll;
    expect(await exported()).toBe(before);
    expect((await done({ groups: [group] })).counts.create).toBe(1);
  });
});

/** Documents whose references all point to resources of the same document. */
const documents = fc
  .record({
    groups: fc.uniqueArray(fc.integer({ min: 100, max: 103 }), { minLength: 1 }),
    scripts: fc.uniqueArray(fc.integer({ min: 200, max: 204 }), { minLength: 2 }),
    choice: fc.infiniteStream(fc.nat(999)),
    text: fc.infiniteStream(
      fc
        .string({ minLength: 1, maxLength: 20 })
        .map(
          (one) => `x${one.toWellFormed().replaceAll('\0', '').replaceAll(/ +/g, ' ').trimEnd()}`,
        ),
    ),
  })
  .map(({ groups: groupIds, scripts, choice, text }) => {
    const number = () => choice.next().value as number;
    const name = () => text.next().value as string;
    const one = <Value>(values: readonly Value[]) => values[number() % values.length] as Value;
    const flag = () => number() % 2 === 0;
    const scriptIds = scripts.map(idOf);
    const some = (from: number, count: number) =>
      Array.from({ length: number() % count }, (_, index) => idOf(from + index));
    const channels = some(300, 4).map((id) => ({
      id,
      name: name(),
      ...one([
        { kind: 'in_app', config: { group_id: one([null, idOf(groupIds[0] ?? 0)]) } },
        { kind: 'webhook', config: { url: 'https://example.com/hook' } },
        { kind: 'messaging', config: { service: 'slack' } },
      ]),
    }));
    return {
      groups: groupIds.map((id) => ({
        id: idOf(id),
        name: name(),
        color: one(['#000000', '#ffffff']),
      })),
      scripts: scriptIds.map((id) => ({
        id,
        name: name(),
        group_id: idOf(one(groupIds)),
        enabled: flag(),
        tags: [...new Set([name(), name()])],
        limits: { processes: 1 + number(), memory_bytes: one([null, 1048576]) },
        environment: { [`A${number()}`]: name() },
        keep_alive: flag(),
        files: [...new Set(['main.py', one(['a.py', 'b/c.txt'])])].map((path) => ({
          path,
          content: name(),
        })),
      })),
      channels,
      rules:
        channels.length === 0
          ? []
          : some(400, 3).map((id) => ({
              id,
              name: name(),
              on: ['failed'],
              channel_ids: [one(channels).id],
              script_ids: [one(scriptIds)],
            })),
      // The ID is derived from the script, because a schedule cannot move to another script. The same applies to the
      // IDs below.
      schedules: scripts.filter(flag).map((script_) => ({
        id: idOf(1000 + script_),
        script_id: idOf(script_),
        ...one([{ cron: '@daily' }, { interval_seconds: 60 + number() }]),
        params: one([null, { [name()]: number() }]),
      })),
      webhooks: scripts.filter(flag).map((script_) => ({
        id: idOf(2000 + script_),
        script_id: idOf(script_),
        name: name(),
        signing: flag(),
      })),
      chains: scriptIds.slice(1).map((target, index) => ({
        id: idOf(3000 + (scripts[index] ?? 0)),
        source_script_id: scriptIds[index] ?? '',
        target_script_id: target,
        on: one(['success', 'failed', 'any']),
        enabled: false,
      })),
      retention: { logs_days: one([null, 1 + number()]) },
    };
  });

describe('any configuration', () => {
  test('is exported identically after repeated imports into another installation', async () => {
    const change = fc.asyncProperty(documents, async (document) => {
      await done(document, '?prune=true');
      const text = await exported();
      await done(text, '?prune=true', other.admin);
      expect(JSON.parse(await exported(other.admin))).toEqual(JSON.parse(text));
      const again = await done(text, '?prune=true', other.admin);
      expect(again.counts).toMatchObject({ create: 0, change: 0, delete: 0 });
      expect((await done(document, '?prune=true')).counts).toMatchObject({ create: 0, change: 0 });
    });
    await fc.assert(change, { numRuns: 12, seed: 1 });
  });
});

test('an exported configuration contains external secret stores without their credentials', async () => {
  const settings = { type: 'vault', address: 'https://vault.example.com', group_ids: null };
  const store = { name: 'Company Vault', ...settings, credential: 'canary-of-a-store' };
  const { id } = (await admin.post('/api/v1/secret-stores', store)).json as { id: string };
  const text = await exported();
  expect(text).not.toContain('canary-of-a-store');
  const [given] = JSON.parse(text).secret_stores;
  expect(given).toMatchObject({ id, name: 'Company Vault', ...settings, mount: 'secret' });
  expect((await done({ secret_stores: [given] })).counts).toMatchObject({ unchanged: 1 });
  const renamed = await done({ secret_stores: [{ ...given, name: 'Vault', mount: 'kv' }] });
  const fields = renamed.items[0].changes.map(({ field }: { field: string }) => field);
  expect(fields.toSorted()).toEqual(['mount', 'name']);
  expect(renamed.missing_secrets).toEqual([]);
  const moved = { ...given, address: 'https://other.example.com' };
  expect((await imported({ secret_stores: [moved] })).json.detail).toContain(
    'credential is required',
  );
  const made = await done({ secret_stores: [{ ...given, id: idOf(77), name: 'Second' }] });
  expect(made.counts).toMatchObject({ create: 1 });
  expect(made.missing_secrets).toMatchObject([{ kind: 'secret_store', secrets: ['credential'] }]);
});
