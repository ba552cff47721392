/** The dashboard's refresh token: `<session id>.<256 random bits>` in a cookie that page scripts cannot read.
 *  Only its SHA-256 is stored. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { refreshTokenDays } from '#infra/postgres/access/session-tokens.ts';
import { parseSessionId, type SessionId } from '#domain/kernel/ids.ts';

const maxAgeSeconds = refreshTokenDays * 24 * 60 * 60;

/** Browsers accept a `__Host-` cookie only over HTTPS, for this host and with path `/`. */
const secureName = '__Host-orch_refresh';
const plainName = 'orch_refresh';

export interface RefreshToken {
  readonly sessionId: SessionId;
  readonly text: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly hash: string;
}

export function newRefreshToken(sessionId: SessionId): RefreshToken {
  return tokenOf(sessionId, `${sessionId}.${randomBytes(32).toString('base64url')}`);
}

/** Derives the next token. A token always has the same successor, which is unpredictable without the key.
 *  @param key the key of this installation */
export function successorOf({ sessionId, text }: RefreshToken, key: Uint8Array): RefreshToken {
  const next = createHmac('sha256', key).update(`refresh token after ${text}`).digest('base64url');
  return tokenOf(sessionId, `${sessionId}.${next}`);
}

function tokenOf(sessionId: SessionId, text: string): RefreshToken {
  return { sessionId, text, hash: createHash('sha256').update(text).digest('hex') };
}

/** Returns the well-formed tokens in a `Cookie` header. Programs on other ports of the host can set cookies with the
 *  same name, and browsers may send those cookies first. */
export function refreshTokensIn(
  cookies: string | undefined,
  secure: boolean,
): readonly RefreshToken[] {
  const prefix = `${secure ? secureName : plainName}=`;
  const texts = (cookies ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  return [...new Set(texts)].flatMap((text) => {
    if (!/^[\w-]{36}\.[\w-]{43}$/.test(text)) return [];
    const sessionId = parseSessionId(text.slice(0, 36));
    return sessionId === undefined ? [] : [tokenOf(sessionId, text)];
  });
}

/** The `Set-Cookie` header that sets the token. */
export function cookieOf(token: RefreshToken, secure: boolean): string {
  return cookie(token.text, maxAgeSeconds, secure);
}

/** The `Set-Cookie` header that removes the token. */
export function noCookie(secure: boolean): string {
  return cookie('', 0, secure);
}

function cookie(value: string, ageSeconds: number, secure: boolean): string {
  const name = secure ? secureName : plainName;
  const attributes = `Path=/; Max-Age=${ageSeconds}; HttpOnly; SameSite=Strict`;
  return `${name}=${value}; ${attributes}${secure ? '; Secure' : ''}`;
}
