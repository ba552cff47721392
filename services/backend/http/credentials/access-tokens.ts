/** Access tokens: JWTs that are valid for 15 minutes, signed with the only accepted algorithm (RFC 8725, RFC 9068).
 *  Each token contains a session ID, and each request checks the session. */
import { parseSessionId, parseUserId, type SessionId, type UserId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { JOSEError } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';

export const accessTokenSeconds = 15 * 60;

const maxRemembered = 1_000;
const algorithm = 'HS256';
const type = 'at+jwt';
const issuer = 'orchestrator';
const audience = 'orchestrator-api';

export interface Claims {
  readonly userId: UserId;
  readonly sessionId: SessionId;
  readonly expiresAtMs: number;
}

export interface AccessTokens {
  issue(userId: UserId, sessionId: SessionId): Promise<string>;
  /** Returns the claims of an unexpired token that this platform signed, otherwise `undefined`. */
  verify(token: string): Promise<Claims | undefined>;
}

export function createAccessTokens(key: Uint8Array, clock: Clock): AccessTokens {
  // Caches tokens whose signature was verified, because signatures stay valid. Requests check the session separately.
  const seen = new Map<string, Claims>();
  return {
    issue: async (userId, sessionId) => {
      const nowSeconds = Math.floor(clock.now().getTime() / 1000);
      return await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: type })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + accessTokenSeconds)
        .sign(key);
    },
    verify: async (token) => {
      const known = seen.get(token);
      if (known !== undefined && known.expiresAtMs > clock.now().getTime()) return known;
      try {
        const claims = await verified(token, key, clock);
        if (claims !== undefined) remember(seen, token, claims);
        return claims;
      } catch (error) {
        if (error instanceof JOSEError) return undefined;
        throw error;
      }
    },
  };
}

/** Caches the claims, and drops the oldest entry at the limit. */
function remember(seen: Map<string, Claims>, token: string, claims: Claims): void {
  const [oldest] = seen.size < maxRemembered ? [] : seen.keys();
  if (oldest !== undefined) seen.delete(oldest);
  seen.set(token, claims);
}

async function verified(token: string, key: Uint8Array, clock: Clock): Promise<Claims | undefined> {
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    algorithms: [algorithm],
    typ: type,
    issuer,
    audience,
    requiredClaims: ['sub', 'sid', 'iat', 'exp'],
    currentDate: clock.now(),
  });
  // The platform's tokens have no key headers, so a token with `kid`, `jku`, `jwk` or `x5u` is forged.
  const own = Object.keys(protectedHeader).every((name) => name === 'alg' || name === 'typ');
  const { sub, sid, exp } = payload;
  const userId = parseUserId(sub ?? '');
  const sessionId = parseSessionId(typeof sid === 'string' ? sid : '');
  if (!own || userId === undefined || sessionId === undefined || exp === undefined) {
    return undefined;
  }
  return { userId, sessionId, expiresAtMs: exp * 1000 };
}
