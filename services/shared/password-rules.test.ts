import bcrypt from 'bcrypt';
import { describe, expect, test } from 'vitest';
import { passwordProblem } from './password-rules.ts';
import { bcryptPasswords } from './passwords.ts';

const owner = { email: 'ada@example.com', name: 'Ada' };

describe('a password', () => {
  test.each([
    'correct horse battery staple',
    'a good password',
    'dash-cloud-92',
    'welcome the dragon',
    '7241-0936-5518',
    'パスワードを選ぶ人',
  ])('may be %s', (password) => {
    expect(passwordProblem(password, owner)).toBeUndefined();
  });

  test.each([
    'password',
    'PASSWORD',
    'ｐａｓｓｗｏｒｄ',
    'password2026!',
    'qwertyuiop',
    'changeme',
    'orchestrator1',
    'Welcome1!',
    'summer2026!?',
    '123dragon456',
    '!!!love!!!2026',
  ])('may not be %s, which is too common', (password) => {
    expect(passwordProblem(password, owner)).toMatch(/too common/);
  });

  test('matches its hash in every Unicode normalization form', async () => {
    const passwords = bcryptPasswords(4);
    const hash = await passwords.hash('größer\u00a0als zwei');
    expect(await passwords.matches('gro\u0308ßer als zwei', hash)).toBe(true);
    expect(await passwords.matches('groesser als zwei', hash)).toBe(false);
  });

  test('still matches a hash that was computed without normalization', async () => {
    const typed = 'gro\u0308ßer als zwei';
    expect(await bcryptPasswords(4).matches(typed, await bcrypt.hash(typed, 4))).toBe(true);
  });
});
