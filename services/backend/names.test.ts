import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { script } from './testing/people.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('a name', () => {
  test.each([
    ['reverses the text direction', 'invoice\u202egpj.py'],
    ['isolates bidirectional text', 'a\u2066b'],
    ['has no width', 'a\u200bb'],
    ['is a stray joiner', 'a\u200db'],
    ['is a tag character', 'a\u{e0041}'],
    ['is a filler character', 'a\u3164'],
    ['separates lines', 'a\u2028b'],
    ['is a non-breaking space', 'a\u00a0b'],
    ['is for private use', 'a\ue000'],
    ['is unassigned', 'a\u{effff}'],
    ['is decomposed', 'e\u0301a'],
  ])('with a character that %s is refused', async (_, name) => {
    const { admin } = platform;
    const { id } = await script(admin);
    const email = `x${name}@example.com`;
    const person = { password: 'a good password', role: 'viewer' };
    const answers = [
      await admin.post('/api/v1/scripts', { name }),
      await admin.post('/api/v1/scripts', { name: 'Report', tags: [name] }),
      await admin.patch(`/api/v1/scripts/${id}`, { name }),
      await admin.put(`/api/v1/scripts/${id}/files/${encodeURIComponent(name)}`, { content: '' }),
      await admin.post('/api/v1/groups', { name }),
      await admin.post('/api/v1/webhooks', { script_id: id, name }),
      await admin.post('/api/v1/auth/tokens', { name, scopes: ['*'] }),
      await admin.post('/api/v1/users', { ...person, email: 'x@example.com', name }),
      await admin.post('/api/v1/users', { ...person, email }),
      await admin.post('/api/v1/notifications/channels', {
        name,
        kind: 'webhook',
        config: { url: 'https://example.com' },
      }),
      await admin.post('/api/v1/system/config', {
        format: 1,
        groups: [{ id: '019aa3f0-7788-7abc-8def-0123456789aa', name }],
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422));
  });
});
