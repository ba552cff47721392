import { sql } from 'kysely';
import { commandId, groupId, identityProviderId, userId } from '#domain/testing/ids.ts';
import { at, recordAll } from '#domain/testing/recorded.ts';
import { createUser } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { usersProjection } from './apply.ts';
import { findUser, findUserByEmail, findUserByIdentity, listUsers } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const ada = {
  user_id: userId(),
  stream_version: 1,
  email: 'ada@example.com',
  name: 'Ada',
  role: 'developer',
  group_ids: [groupId(1), groupId(2)],
  can_audit: true,
  disabled: false,
  credential_id: commandId(),
  access_version: 1,
  kept_session_id: null,
  identities: [],
  second_factor: null,
  created_at: at(1),
};

test('an account has a row with its settings', async () => {
  const events = await recordAll([
    createUser({ groupIds: [groupId(1), groupId(2)], canAudit: true }),
  ]);
  const { users } = await rowsAfter(reads.db, [usersProjection], [events]);
  expect(users).toEqual([ada]);
});

test('the row of an account shows the current settings after changes', async () => {
  const changes = { role: 'viewer', groupIds: [groupId(2)], disabled: true } as const;
  const events = await recordAll([
    createUser(),
    { type: 'ChangeUser', userId: userId(), changes },
    { type: 'ChangeUserPassword', userId: userId(), credentialId: commandId(7) },
  ]);
  const { users } = await rowsAfter(reads.db, [usersProjection], [events]);
  expect(users).toMatchObject([
    {
      name: 'Ada',
      role: 'viewer',
      group_ids: [groupId(2)],
      disabled: true,
      credential_id: commandId(7),
    },
  ]);
});

test('the row of an account shows its identities, and the account is found by each identity', async () => {
  const identity = {
    identityProviderId: identityProviderId(),
    issuer: 'https://id.example.com',
    subject: 'ada',
  };
  const link = {
    type: 'LinkIdentity',
    userId: userId(),
    ...identity,
    subject: 'lovelace',
  } as const;
  const events = await recordAll([createUser({ identity }), link]);
  await usersProjection.apply(reads.db, events);
  const found = await findUserByIdentity(reads.db, { ...identity, subject: 'lovelace' });
  expect(found?.identities).toEqual([{ ...identity, subject: 'lovelace' }]);
  expect(await findUserByIdentity(reads.db, identity)).toBeUndefined();
  await sql`DELETE FROM users`.execute(reads.db);
});

describe('several accounts', () => {
  beforeAll(async () => {
    const numbers = [1, 2, 3];
    const events = await recordAll(
      numbers.map((one) => createUser({ userId: userId(one), email: `${one}@example.com` })),
    );
    await usersProjection.apply(reads.db, events);
  });

  test('are found by ID and by email address', async () => {
    expect(await findUser(reads.db, userId(2))).toMatchObject({ email: '2@example.com' });
    expect(await findUser(reads.db, userId(9))).toBeUndefined();
    expect(await findUserByEmail(reads.db, '3@example.com')).toMatchObject({ user_id: userId(3) });
    expect(await findUserByEmail(reads.db, 'example.com')).toBeUndefined();
  });

  test('are listed newest first, page by page', async () => {
    const page = async (after?: number) =>
      (await listUsers(reads.db, after === undefined ? undefined : userId(after), 2)).map(
        (user) => user.user_id,
      );
    expect(await page()).toEqual([userId(3), userId(2)]);
    expect(await page(2)).toEqual([userId(1)]);
    expect(await page(1)).toEqual([]);
  });
});
