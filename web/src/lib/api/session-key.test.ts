import { expect, test } from 'vitest';
import { refreshWithKey, type TextStore } from './session-key.ts';

const answer = { access_token: 'fresh', expires_in: 900 };

/** A browser whose cookie belongs to the session key `good`. `before` simulates the actions of other tabs during a
 *  request. */
function setUp(
  stored: string | null,
  good: string | null,
  before: (keys: TextStore) => void = () => {},
) {
  let held = stored;
  const sent: string[] = [];
  const keys: TextStore = {
    get: () => held,
    set: (key) => void (held = key),
    remove: () => void (held = null),
  };
  const send = async (key: string) => {
    sent.push(key);
    before(keys);
    return key === good ? Response.json(answer) : Response.json({}, { status: 401 });
  };
  return { keys, send, sent };
}

test('a refresh sends the session key and keeps it', async () => {
  const { keys, send, sent } = setUp('mine', 'mine');
  expect(await refreshWithKey(keys, send)).toEqual(answer);
  expect([sent, keys.get()]).toEqual([['mine'], 'mine']);
});

test('a refresh without a session key sends no request', async () => {
  const { keys, send, sent } = setUp(null, 'mine');
  expect(await refreshWithKey(keys, send)).toBeNull();
  expect(sent).toEqual([]);
});

test('a refresh removes the session key if the session has ended', async () => {
  const { keys, send } = setUp('mine', null);
  expect(await refreshWithKey(keys, send)).toBeNull();
  expect(keys.get()).toBeNull();
});

test('a refresh retries with the new key if another tab signs in during the request', async () => {
  const { keys, send, sent } = setUp('old', 'new', (all) => all.set('new'));
  expect(await refreshWithKey(keys, send)).toEqual(answer);
  expect([sent, keys.get()]).toEqual([['old', 'new'], 'new']);
});

test('a refresh keeps the session key if the server is unavailable', async () => {
  const { keys } = setUp('mine', 'mine');
  const broken = async () => new Response('', { status: 503 });
  await expect(refreshWithKey(keys, broken)).rejects.toThrow();
  const offline = () => Promise.reject(new TypeError('offline'));
  await expect(refreshWithKey(keys, offline)).rejects.toThrow('offline');
  expect(keys.get()).toBe('mine');
});
