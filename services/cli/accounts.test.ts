import { sessionId, tokenId, userId } from '#domain/testing/ids.ts';
import { createUser, issueToken } from '#domain/testing/samples.ts';
import { getCredential } from '#infra/postgres/access/credentials.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { findOpenSession } from '#projections/sessions/queries.ts';
import { findToken } from '#projections/tokens/queries.ts';
import { findUser } from '#projections/users/queries.ts';
import { bcryptPasswords } from '#services/shared/passwords.ts';
import { outdatedRows } from '#infra/postgres/rebuild/projection-versions.ts';
import { inlineProjections } from '#projections/registry.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resetPasswordOf, type NewPassword } from './accounts.ts';

let platform: TestPlatform;
let owner: Database;
beforeAll(async () => {
  platform = await openTestPlatform();
  owner = openDatabase(platform.adminUrl, {
    connections: 2,
    applicationName: 'cli test',
    onIdleError: () => undefined,
  });
  await outdatedRows(platform.pool, inlineProjections);
  await platform.accepted(createUser());
  await platform.accepted(issueToken());
  const open = { type: 'OpenSession', sessionId: sessionId(), userId: userId() } as const;
  await platform.accepted({ ...open, accountVersion: 1, userAgent: null });
});
afterAll(async () => {
  await owner.close();
  await platform.close();
});

async function give(changes: Partial<NewPassword> = {}): Promise<readonly string[]> {
  const lines: string[] = [];
  const wanted = { email: 'Ada@Example.com', password: 'another password', enable: false };
  await resetPasswordOf(owner.pool, { ...wanted, ...changes }, { line: (one) => lines.push(one) });
  return lines;
}

const user = async () => await findUser(platform.reads, userId());

describe('an account', () => {
  test('gets a new password, which ends its sessions', async () => {
    expect(await findOpenSession(platform.reads, sessionId())).toBeDefined();
    expect(await give()).toEqual([
      'Password of ada@example.com changed. Its sessions have ended; its API tokens stay valid.',
    ]);
    const hash = await getCredential(platform.pool, (await user())?.credential_id ?? '');
    expect(await bcryptPasswords(4).matches('another password', hash)).toBe(true);
    expect(await findOpenSession(platform.reads, sessionId())).toBeUndefined();
    expect(await findToken(platform.reads, tokenId())).toBeDefined();
    const { rows } = await platform.pool.query<{ actor: unknown }>(
      `SELECT metadata -> 'actor' AS actor FROM events WHERE type = 'UserPasswordChanged'`,
    );
    expect(rows).toEqual([{ actor: { kind: 'system', name: 'console' } }]);
  });

  test('stays disabled unless --enable is given', async () => {
    await platform.accepted({ type: 'ChangeUser', userId: userId(), changes: { disabled: true } });
    expect((await give()).at(-1)).toMatch(/^The account is disabled.* Add --enable/);
    expect((await user())?.disabled).toBe(true);
    expect((await give({ enable: true })).at(-1)).toBe(
      'The account was disabled and is now enabled.',
    );
    expect((await user())?.disabled).toBe(false);
  });

  test.each(['short', '', 'ä'.repeat(37), 'password', 'ada@example.com!'])(
    'keeps its password when the new one is %j',
    async (password) => {
      const before = await user();
      await expect(give({ password })).rejects.toThrow(
        /at least 8 characters|at most 72 bytes|too common|contains "ada@example\.com"/,
      );
      expect(await user()).toEqual(before);
    },
  );

  test('that does not exist is refused', async () => {
    await expect(give({ email: 'eve@example.com' })).rejects.toThrow(
      'No account has the email address eve@example.com.',
    );
  });
});
