import { tokenId, userId } from '#domain/testing/ids.ts';
import { at, recordAll } from '#domain/testing/recorded.ts';
import { createUser, issueToken } from '#domain/testing/samples.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { usersProjection } from '../users/apply.ts';
import { tokensProjection } from './apply.ts';
import { findLiveTokens, findToken, listTokens } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const expiresAt = '2026-12-21T02:31:00.000Z';
const issued = {
  token_id: tokenId(),
  stream_version: 1,
  user_id: userId(),
  name: 'deploy',
  scopes: ['scripts:read', 'runs:write'],
  token_hash: 'a'.repeat(64),
  created_at: at(1),
  expires_at: new Date(expiresAt),
  revoked_at: null,
  last_used_at: null,
};

test('the row of a token shows when the token was revoked', async () => {
  const revoke = { type: 'RevokeToken', tokenId: tokenId() } as const;
  const row = async (...commands: Parameters<typeof recordAll>[0]) => {
    const { api_tokens: rows } = await rowsAfter(
      reads.db,
      [tokensProjection],
      [await recordAll(commands)],
    );
    return rows;
  };
  expect(await row(issueToken({ expiresAt }))).toEqual([issued]);
  const revoked = { ...issued, stream_version: 2, revoked_at: at(2) };
  expect(await row(issueToken({ expiresAt }), revoke)).toEqual([revoked]);
});

describe('a user with valid and revoked tokens', () => {
  const hash = (letter: string) => letter.repeat(64);
  const before = new Date('2026-12-21T02:30:59.999Z');
  beforeAll(async () => {
    const events = await recordAll([
      createUser(),
      issueToken({ expiresAt }),
      issueToken({ tokenId: tokenId(2), tokenHash: hash('b') }),
      issueToken({ tokenId: tokenId(3), tokenHash: hash('c') }),
      { type: 'RevokeToken', tokenId: tokenId(3) },
    ]);
    await applyAll([usersProjection, tokensProjection], reads.db, events);
  });
  const live = async (now: Date) =>
    (await findLiveTokens(reads.db, [hash('a'), hash('b'), hash('c'), hash('d')], now))
      .map((one) => one.token_id)
      .toSorted();

  test('has only valid tokens in a lookup by hash', async () => {
    expect(await live(before)).toEqual([tokenId(1), tokenId(2)]);
    expect(await live(new Date(expiresAt))).toEqual([tokenId(2)]);
  });

  test('cannot list or find a revoked token', async () => {
    const listed = await listTokens(reads.db, userId(), undefined, 9);
    expect(listed.map((one) => one.token_id)).toEqual([tokenId(2), tokenId(1)]);
    const further = await listTokens(reads.db, userId(), tokenId(2), 9);
    expect(further.map((one) => one.token_id)).toEqual([tokenId(1)]);
    expect(await listTokens(reads.db, userId(2), undefined, 9)).toEqual([]);
    expect(await findToken(reads.db, tokenId(3))).toBeUndefined();
    expect(await findToken(reads.db, tokenId(2))).toMatchObject({ name: 'deploy' });
  });

  test('has no valid token while the account is disabled', async () => {
    await sql`UPDATE users SET disabled = true`.execute(reads.db);
    expect(await live(before)).toEqual([]);
  });
});
