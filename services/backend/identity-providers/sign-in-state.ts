/** Stores a pending sign-in at an identity provider in an encrypted cookie. The cookie binds the sign-in to the
 *  browser that started it, so that another browser cannot use the provider's response. */
import { hkdfSync } from 'node:crypto';
import type { Clock } from '#domain/ports/clock.ts';
import type { SignInChecks } from '#infra/oidc/oidc.ts';
import { JOSEError } from 'jose/errors';
import { jwtDecrypt } from 'jose/jwt/decrypt';
import { EncryptJWT } from 'jose/jwt/encrypt';

export interface PendingSignIn extends SignInChecks {
  readonly slug: string;
  /** Path of the dashboard to return to. */
  readonly next: string;
}

/** The time that users have to sign in at the provider, possibly with a second factor. */
const maxAgeSeconds = 15 * 60;
const encryption = { alg: 'dir', enc: 'A256GCM' } as const;

const nameOf = (secure: boolean) => (secure ? '__Host-orch_sign_in' : 'orch_sign_in');

/** The `Set-Cookie` header of a started sign-in.
 *  @param key this installation's key */
export async function signInCookie(
  pending: PendingSignIn,
  { key, clock, secure }: { key: Uint8Array; clock: Clock; secure: boolean },
): Promise<string> {
  const nowSeconds = Math.floor(clock.now().getTime() / 1000);
  const text = await new EncryptJWT({ ...pending })
    .setProtectedHeader(encryption)
    .setExpirationTime(nowSeconds + maxAgeSeconds)
    .encrypt(encryptionKey(key));
  // `SameSite=Lax`, because the provider's page redirects the browser here.
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${nameOf(secure)}=${text}; ${attributes}${secure ? '; Secure' : ''}`;
}

/** The pending sign-in with this state in a `Cookie` header; `undefined` if this browser did not start it. */
export async function pendingSignIn(
  cookies: string | undefined,
  state: string | undefined,
  { key, clock, secure }: { key: Uint8Array; clock: Clock; secure: boolean },
): Promise<PendingSignIn | undefined> {
  const prefix = `${nameOf(secure)}=`;
  const texts = (cookies ?? '').split(';').map((pair) => pair.trim());
  for (const text of texts.filter((pair) => pair.startsWith(prefix))) {
    try {
      const { payload } = await jwtDecrypt<PendingSignIn>(
        text.slice(prefix.length),
        encryptionKey(key),
        { currentDate: clock.now(), requiredClaims: ['exp'] },
      );
      if (payload.state === state) return payload;
    } catch (error) {
      if (!(error instanceof JOSEError)) throw error;
    }
  }
  return undefined;
}

function encryptionKey(key: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', 'sign-in at an identity provider', 32));
}
