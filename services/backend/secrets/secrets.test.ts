import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { tablesWith } from '#infra/testing/stored-text.ts';
import { asyncProjections } from '#projections/registry.ts';
import { sealedSecrets } from '#projections/secrets/queries.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asRuntime, groups, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const canary = 'canary-7f3a9c51e2';
let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const at = (scriptId: string, name = '') =>
  `/api/v1/scripts/${scriptId}/secrets${name && `/${name}`}`;

async function withSecret(value = canary, more = {}): Promise<string> {
  const { id } = await script(platform.admin);
  const set = await platform.admin.put(at(id, 'TOKEN'), { value, ...more });
  expect(set.status, set.text).toBe(200);
  return id;
}

/** Returns the value that a run would receive. */
async function valueOf(scriptId: string, name: string): Promise<string> {
  const { readModels, vault } = platform.services;
  const [secret] = await sealedSecrets(readModels, mustParse(parseScriptId, scriptId), name);
  if (secret === undefined) throw new Error('there is no such secret');
  return await vault.open({ scriptId, name, version: secret.version }, secret.sealed);
}

describe('a secret', () => {
  test('is listed with its version and author, and can be decrypted', async () => {
    const id = await withSecret(canary, { as_environment: true });
    const { json } = await platform.admin.get(at(id));
    expect(json).toEqual({
      items: [
        {
          name: 'TOKEN',
          version: 1,
          as_environment: true,
          rotate_after_days: null,
          rotation_due_at: null,
          store: null,
          path: null,
          key: null,
          updated_at: expect.any(String),
          updated_by: 'admin@example.com',
          last_used_at: null,
          last_used_by: null,
          used_by: [],
        },
      ],
      next_cursor: null,
    });
    expect(await valueOf(id, 'TOKEN')).toBe(canary);
  });

  test('remains an environment variable when it gets a new value', async () => {
    const id = await withSecret(canary, { as_environment: true });
    const { json } = await platform.admin.put(at(id, 'TOKEN'), { value: 'another' });
    expect([json.version, json.as_environment]).toEqual([2, true]);
    expect(await valueOf(id, 'TOKEN')).toBe('another');
  });

  test('has the complete value from one request after concurrent writes', async () => {
    const id = await withSecret();
    const values = ['a value', 'b value', 'c value', 'd value'];
    const answers = await Promise.all(
      values.map((value) => platform.admin.put(at(id, 'TOKEN'), { value })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    expect(values).toContain(await valueOf(id, 'TOKEN'));
  });

  test('cannot be decrypted after its row is swapped with another row', async () => {
    const id = await withSecret();
    await platform.admin.put(at(id, 'OTHER'), { value: 'another' });
    await platform.pool.query(
      `UPDATE secrets a SET sealed = b.sealed FROM secrets b
       WHERE a.script_id = $1 AND b.script_id = $1 AND a.name <> b.name`,
      [id],
    );
    await expect(valueOf(id, 'TOKEN')).rejects.toThrow(/"TOKEN" cannot be read/);
    await expect(valueOf(id, 'OTHER')).rejects.toThrow(/"OTHER" cannot be read/);
  });

  test('shows the runs that received it, with the received version', async () => {
    const id = await withSecret();
    await asRuntime(platform, {
      type: 'ReadSecrets',
      runId: mustParse(parseRunId, '019aa3f4-01aa-7c11-8d22-5e6f70819203'),
      scriptId: mustParse(parseScriptId, id),
      secrets: [{ name: 'TOKEN', version: 1 }],
    });
    await eventsVisible(platform.pool);
    await new Projector(platform.pool, asyncProjections).runOnce(new AbortController().signal);
    const { json } = await platform.admin.get(at(id));
    expect(json.items[0]).toMatchObject({
      last_used_at: expect.any(String),
      last_used_by: '019aa3f4-01aa-7c11-8d22-5e6f70819203',
    });
    const audit = await platform.admin.get('/api/v1/audit?limit=200');
    const entries = audit.json.items.filter((one: { resource: string }) =>
      one.resource.includes(id),
    );
    expect(entries).toContainEqual(
      expect.objectContaining({
        actor: 'runtime',
        action: 'secrets_read',
        resource: `secret-${id}`,
        detail: 'TOKEN',
      }),
    );
  });
});

describe('the last secret of a script', () => {
  test('is unreadable after deletion, because its key is destroyed', async () => {
    const id = await withSecret();
    const { readModels, vault } = platform.services;
    const [copy] = await sealedSecrets(readModels, mustParse(parseScriptId, id));
    if (copy === undefined) throw new Error('there is no secret');
    const place = { scriptId: id, name: 'TOKEN', version: 1 };
    expect(await vault.open(place, copy.sealed)).toBe(canary);
    expect((await platform.admin.delete(at(id, 'TOKEN'))).status).toBe(204);
    await expect(vault.open(place, copy.sealed)).rejects.toThrow(/its data key was destroyed/);
    expect((await platform.admin.get(at(id))).json.items).toEqual([]);
    expect((await platform.admin.delete(at(id, 'TOKEN'))).status).toBe(404);
  });

  test('is readable again, at the next version, when it is set again', async () => {
    const id = await withSecret();
    await platform.admin.delete(at(id, 'TOKEN'));
    const { json } = await platform.admin.put(at(id, 'TOKEN'), { value: 'another' });
    expect(json.version).toBe(2);
    expect(await valueOf(id, 'TOKEN')).toBe('another');
  });
});

describe('several secrets', () => {
  test('are listed by name, page by page', async () => {
    const { id } = await script(platform.admin);
    for (const name of ['b', 'A', 'c']) await platform.admin.put(at(id, name), { value: 'x' });
    const first = await platform.admin.get(`${at(id)}?limit=2`);
    const next = await platform.admin.get(`${at(id)}?cursor=${first.json.next_cursor}`);
    const names = [...first.json.items, ...next.json.items].map(({ name }) => name);
    expect(names).toEqual(['A', 'b', 'c']);
  });

  test('remain readable when one of them is deleted', async () => {
    const id = await withSecret();
    await platform.admin.put(at(id, 'OTHER'), { value: 'another' });
    await platform.admin.delete(at(id, 'TOKEN'));
    expect(await valueOf(id, 'OTHER')).toBe('another');
  });
});

describe('a secret that cannot be stored', () => {
  test.each([
    ['7UP', { value: 'x' }],
    ['a-b', { value: 'x' }],
    ['a%20b', { value: 'x' }],
    ['TOKEN', { value: '' }],
    ['TOKEN', { value: 'nul \0' }],
    ['TOKEN', { value: 'é'.repeat(20_000) }],
    ['TOKEN', {}],
    ['PATH', { value: 'x', as_environment: true }],
    ['LD_PRELOAD', { value: 'x', as_environment: true }],
    ['PYTHONPATH', { value: 'x', as_environment: true }],
    ['ORCH_SOCKET', { value: 'x', as_environment: true }],
  ])('is refused: %s with %j', async (name, body) => {
    const { id } = await script(platform.admin);
    const { status, json } = await platform.admin.put(at(id, name), body);
    expect([status, json.code]).toEqual([422, 'validation_failed']);
  });

  test("is refused as unavailable when the script's key is encrypted with another master key", async () => {
    const id = await withSecret();
    await platform.pool.query(`UPDATE data_keys SET master_key_id = 'x' WHERE script_id = $1`, [
      id,
    ]);
    const { status, json } = await platform.admin.put(at(id, 'TOKEN'), { value: 'another' });
    expect([status, json.code]).toEqual([503, 'unavailable']);
    expect(json.detail).toContain('a different SECRET_MASTER_KEY');
  });
});

describe('copies of a script with a secret', () => {
  test('do not contain the secret', async () => {
    const id = await withSecret();
    const copy = await platform.admin.post(`/api/v1/scripts/${id}/copy`);
    expect((await platform.admin.get(at(copy.json.id))).json.items).toEqual([]);
    const archive = await platform.admin.get(`/api/v1/scripts/${id}/export`);
    expect(archive.text).not.toContain('TOKEN');
  });
});

describe('a secret value', () => {
  test('is not in any table, response or log line', async () => {
    const id = await withSecret(canary, { as_environment: true });
    const developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const keyed = { headers: { 'Idempotency-Key': 'canary' } };
    const answers = [
      await developer.put(at(id, 'TOKEN'), { value: canary }, keyed),
      await developer.put(at(id, 'PATH'), { value: canary, as_environment: true }),
      await developer.put(at(id, 'TOKEN'), { value: canary, [canary]: 1 }, keyed),
      await developer.put(at(id, 'TOKEN'), { value: canary, as_environment: canary }),
      await developer.send('PUT', at(id, 'TOKEN'), `{"value": "${canary}"`, {
        headers: { 'Content-Type': 'application/json' },
      }),
      await developer.get(at(id)),
      await developer.get(`/api/v1/scripts/${id}`),
      await developer.get(`/api/v1/scripts/${id}/history`),
      await platform.admin.get('/api/v1/audit?limit=200'),
      await platform.anonymous.get('/metrics'),
    ];
    const [, , named, ...others] = answers;
    for (const answer of others) expect(answer.text).not.toContain(canary);
    // The response repeats the name of an unknown field, but no value from the request.
    expect(named?.json.errors).toEqual([{ pointer: `/${canary}`, detail: 'is unknown' }]);
    await platform.backend.settle();
    expect(platform.logged.lines.join('\n')).not.toContain(canary);
    const forms = [canary, Buffer.from(canary).toString('base64').slice(0, 20)];
    expect(await tablesWith(platform.pool, forms)).toEqual([]);
  });
});
