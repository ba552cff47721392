import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  channel,
  delivery,
  failDelivery,
  groups,
  notificationRule,
  nowhere,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const path = '/api/v1/notifications/channels';
const email = {
  host: 'mail.example.com',
  port: 587,
  security: 'starttls',
  username: 'bot',
  from: 'bot@example.com',
  to: ['ops@example.com'],
};
const password = 'canary-pässword';

/** Whether a text is stored in the database. */
async function isStored(text: string): Promise<boolean> {
  const { rows } = await platform.pool.query(
    `SELECT FROM events WHERE data::text LIKE $1 OR metadata::text LIKE $1
      UNION ALL SELECT FROM notification_channels c WHERE c::text LIKE $1`,
    [`%${text}%`],
  );
  return rows.length > 0;
}

describe('a channel with a password', () => {
  let id = '';
  beforeAll(async () => {
    id = await channel(platform.admin, { kind: 'email', config: { ...email, password } });
  });

  test('stores the password encrypted, and does not return it', async () => {
    const shown = await platform.admin.get(`${path}/${id}`);
    expect(shown.json).toEqual({
      id,
      name: 'on call',
      kind: 'email',
      enabled: true,
      config: email,
      secrets: ['password'],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await platform.admin.get(path)).text).not.toContain('canary');
    expect(await isStored('canary')).toBe(false);
  });

  test('keeps the password on a change, unless the target changes', async () => {
    const to = ['night@example.com'];
    const changed = await platform.admin.patch(`${path}/${id}`, { config: { ...email, to } });
    expect([changed.status, changed.json.config.to]).toEqual([200, to]);
    for (const other of [{ host: 'evil.example.com' }, { port: 25 }, { security: 'none' }]) {
      const refused = await platform.admin.patch(`${path}/${id}`, {
        config: { ...email, ...other },
      });
      expect(refused.status).toBe(422);
      expect(refused.json.errors).toEqual([{ pointer: '/config/password', detail: 'is required' }]);
    }
  });
});

describe('a webhook channel', () => {
  test('shows its secret once, and a new secret once after a rotation', async () => {
    const config = { url: 'https://example.com/hook' };
    const made = await platform.admin.post(path, { name: 'a', kind: 'webhook', config });
    const { id, secret, ...shown } = made.json;
    expect(secret).toMatch(/^whsec_/);
    expect((await platform.admin.get(`${path}/${id}`)).json).toEqual({ id, ...shown });
    const rotated = await platform.admin.post(`${path}/${id}/rotate`, {});
    expect(rotated.json.secret).toMatch(/^whsec_/);
    expect(rotated.json.secret).not.toBe(secret);
    expect(await isStored(String(secret).slice(6))).toBe(false);
  });

  test('cannot be deleted while a rule uses it, and is deleted with its key', async () => {
    const id = await channel(platform.admin);
    const keys = async () =>
      (await platform.pool.query('SELECT FROM data_keys WHERE script_id = $1', [id])).rows.length;
    expect(await keys()).toBe(1);
    const ruleId = await notificationRule(platform.admin, id);
    const refused = await platform.admin.delete(`${path}/${id}`);
    expect([refused.status, refused.json.code]).toEqual([409, 'channel_in_use']);
    await platform.admin.delete(`/api/v1/notifications/rules/${ruleId}`);
    expect((await platform.admin.delete(`${path}/${id}`)).status).toBe(204);
    expect(await keys()).toBe(0);
    expect((await platform.admin.get(`${path}/${id}`)).status).toBe(404);
  });
});

describe('a delivery', () => {
  const deliveries = '/api/v1/notifications/deliveries';

  test('can be sent again only after it has ended', async () => {
    const id = await delivery(platform.admin, await channel(platform.admin));
    const early = await platform.admin.post(`${deliveries}/${id}/redeliver`, undefined);
    expect([early.status, early.json.code]).toEqual([409, 'already_exists']);
    await failDelivery(platform, id);
    const again = await platform.admin.post(`${deliveries}/${id}/redeliver`, undefined);
    expect([again.status, again.json.status]).toEqual([202, 'pending']);
    expect(again.json.id).not.toBe(id);
    const before = await platform.admin.get(`${deliveries}/${id}`);
    expect(before.json).toMatchObject({ status: 'failed', message: again.json.message });
    expect(
      (await platform.admin.post(`${deliveries}/${nowhere}/redeliver`, undefined)).status,
    ).toBe(404);
  });
});

describe('an invalid channel', () => {
  test.each([
    ['email', {}, '/config/host'],
    ['email', { ...email, port: 0, password }, '/config/port'],
    ['email', email, '/config/password'],
    ['email', { ...email, to: ['a@b\r\nBcc: c@d'], password }, '/config/to/0'],
    ['email', { ...email, url: 'https://example.com' }, '/config/url'],
    ['messaging', { service: 'telegram', chat_id: '7' }, '/config/token'],
    ['messaging', { service: 'slack' }, '/config/url'],
    ['messaging', { service: 'icq', url: 'https://example.com' }, '/config/service'],
    ['webhook', { url: 'file:///etc/passwd' }, '/config/url'],
    ['webhook', { url: 'https://user:pass@example.com' }, '/config/url'],
    ['webhook', { url: 'http://[' }, '/config/url'],
    ['in_app', { group_id: 'x' }, '/config/group_id'],
  ])('of type %s with %j is refused at %s', async (kind, config, pointer) => {
    const answer = await platform.admin.post(path, { name: 'a', kind, config });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.json.errors[0].pointer).toBe(pointer);
  });

  test('is refused if it or its rule refers to a missing resource', async () => {
    const foreign = { name: 'a', kind: 'in_app', config: { group_id: nowhere } };
    expect((await platform.admin.post(path, foreign)).status).toBe(422);
    const id = await channel(platform.admin, { kind: 'in_app', config: { group_id: groups.bots } });
    const rule = { name: 'a', on: ['failed'], channel_ids: [id] };
    for (const wrong of [
      { channel_ids: [nowhere] },
      { group_ids: [nowhere] },
      { script_ids: [nowhere] },
    ]) {
      const answer = await platform.admin.post('/api/v1/notifications/rules', {
        ...rule,
        ...wrong,
      });
      expect(answer.status, answer.text).toBe(422);
    }
  });
});
