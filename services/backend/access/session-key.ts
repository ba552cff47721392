/** The key that complements a session's cookie. Browsers send a host's cookies to every port, and so to other
 *  programs' servers. The dashboard therefore also stores a key in its origin's storage and sends it in a header.
 *  Pages of other origins cannot make a browser send this header. The cookie and the key are valid only together. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readKeyHashes } from '#infra/postgres/access/session-tokens.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { RefreshToken } from './refresh-cookie.ts';

export interface SessionKey {
  readonly text: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly hash: string;
}

/** A new session key: 256 random bits. */
export function newSessionKey(): SessionKey {
  return keyOf(randomBytes(32).toString('base64url'));
}

/** Parses the key that a client sends. @returns `undefined` if it is not well-formed */
export function parseSessionKey(text: string | undefined): SessionKey | undefined {
  return text !== undefined && /^[\w-]{43}$/.test(text) ? keyOf(text) : undefined;
}

/** Finds the refresh token whose session was opened with this key. */
export async function tokenOfKey(
  db: Queryable,
  tokens: readonly RefreshToken[],
  key: SessionKey | undefined,
): Promise<RefreshToken | undefined> {
  if (key === undefined) return undefined;
  const hashes = await readKeyHashes(
    db,
    tokens.map(({ sessionId }) => sessionId),
  );
  const own = [...hashes].find(([, hash]) => hasHash(key, hash))?.[0];
  return tokens.findLast(({ sessionId }) => sessionId === own);
}

/** Whether the key has this hash, in constant time. @param hash lower-case hex */
function hasHash(key: SessionKey, hash: string): boolean {
  const [own, other] = [Buffer.from(key.hash, 'hex'), Buffer.from(hash, 'hex')];
  return own.length === other.length && timingSafeEqual(own, other);
}

function keyOf(text: string): SessionKey {
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}
