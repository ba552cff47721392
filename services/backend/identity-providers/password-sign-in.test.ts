import { describe, expect, test } from 'vitest';
import { startTestBackend } from '../testing/test-backend.ts';

describe('the restriction of passwords to administrators', () => {
  test('prevents other users from signing in with a password', async () => {
    const strict = await startTestBackend({ passwordSignIn: 'administrators' });
    const password = 'correct horse battery staple';
    const email = 'ada@acme.example';
    await strict.admin.post('/api/v1/users', { email, role: 'developer', password });
    const refused = await strict.anonymous.post('/api/v1/auth/login', { email, password });
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    const wrong = await strict.anonymous.post('/api/v1/auth/login', { email, password: 'wrong' });
    expect(wrong.status).toBe(401);
    await strict.close();
  });
});
