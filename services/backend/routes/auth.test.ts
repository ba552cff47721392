import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { administrator, startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('given the first administrator', () => {
  test('when they sign in, then they get a token that says who they are', async () => {
    const me = await platform.admin.get('/api/v1/auth/me');
    expect(me.json).toMatchObject({ email: administrator.email, role: 'administrator' });
  });
});
