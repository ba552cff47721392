/** Stores the challenges that passkeys must sign, so that each signature is accepted only once. */
import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database.ts';

const challengeMinutes = 5;
/** Maximum number of open challenges per account. When the limit is reached, a new challenge replaces the oldest. */
const maxOpen = 20;

export type ChallengePurpose = 'add' | 'use';

const statements = {
  // Uses the database clock, because another backend may have issued the challenge.
  issue: `WITH expired AS (DELETE FROM passkey_challenges WHERE expires_at <= now()),
    trimmed AS (
      DELETE FROM passkey_challenges WHERE challenge IN (
        SELECT challenge FROM passkey_challenges WHERE user_id = $2
        ORDER BY expires_at DESC OFFSET ${maxOpen - 1}))
    INSERT INTO passkey_challenges (challenge, user_id, purpose, expires_at)
    VALUES ($1, $2, $3, now() + interval '${challengeMinutes} minutes')`,
  redeem: `DELETE FROM passkey_challenges WHERE challenge = $1 AND user_id = $2 AND purpose = $3
    RETURNING expires_at > now() AS good`,
};

/** Creates a challenge for an account.
 *  @returns the challenge in base64url */
export async function issueChallenge(
  db: Queryable,
  userId: string,
  purpose: ChallengePurpose,
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  await db.query(statements.issue, [challenge, userId, purpose]);
  return challenge;
}

/** Redeems a challenge.
 *  @returns false if the challenge is unknown, expired or already used, or was issued for another account or purpose */
export async function redeemChallenge(
  db: Queryable,
  challenge: string,
  { userId, purpose }: { readonly userId: string; readonly purpose: ChallengePurpose },
): Promise<boolean> {
  const { rows } = await db.query<{ good: boolean }>(statements.redeem, [
    challenge,
    userId,
    purpose,
  ]);
  return rows[0]?.good === true;
}
