import { expect, test } from 'vitest';
import { configOf, draftOf } from './channel-draft.ts';

const made = { id: '1', name: 'ops', enabled: true, secrets: ['password'] };
const times = { created_at: '2026-11-21T02:31:00.000Z', updated_at: '2026-11-21T02:31:00.000Z' };

test('secrets that were not entered again are omitted, so that they stay unchanged', () => {
  const config = {
    host: 'mail.example.com',
    port: 465,
    security: 'tls',
    username: 'bot',
    from: 'bot@example.com',
    to: ['ops@example.com'],
  };
  const draft = draftOf({ ...made, ...times, kind: 'email', config });
  expect(draft.password).toBe('');
  expect(configOf(draft)).toEqual(config);
  const changed = { ...draft, to: 'a@example.com, b@example.com\n', password: 'new one' };
  expect(configOf(changed)).toMatchObject({
    to: ['a@example.com', 'b@example.com'],
    password: 'new one',
  });
});

test('a channel contains only the fields of its kind', () => {
  const draft = { ...draftOf(null), url: 'https://example.com/hook', chatId: '7', token: 't' };
  expect(configOf({ ...draft, kind: 'webhook' })).toEqual({ url: 'https://example.com/hook' });
  const chat = { ...draft, kind: 'messaging' } as const;
  expect(configOf(chat)).toEqual({ service: 'telegram', chat_id: '7', token: 't' });
  expect(configOf({ ...chat, service: 'slack' })).toEqual({ service: 'slack', url: draft.url });
  expect(configOf({ ...draft, kind: 'in_app' })).toEqual({ group_id: null });
});
