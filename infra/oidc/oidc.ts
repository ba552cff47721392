/** Signs users in through identity providers, with the authorization code flow and PKCE (OpenID Connect). Also supports
 *  back-channel logout. The libraries are loaded on first use. */
import type { Claims } from '#domain/identity-provider/provider.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { createRemoteJWKSet } from 'jose';
import type { Configuration } from 'openid-client';

/** The registration of this service with an identity provider. */
export interface OidcClient {
  readonly issuer: string;
  readonly clientId: string;
  /** The client secret; undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** Scopes to request in addition to `openid`. */
  readonly scopes: readonly string[];
}

/** Random values that bind the provider's response to the request. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Sessions that a provider ended: either one of its sessions, or all sessions of a user. */
export type LogoutToken =
  | { readonly issuer: string; readonly providerSessionId: string }
  | { readonly issuer: string; readonly subject: string };

/** The provider cannot be reached, or its response is invalid. The message contains no tokens. */
export class OidcFailure extends Error {
  override readonly name = 'OidcFailure';
}

/** The user or the provider declined the sign-in (RFC 6749 §4.1.2.1). */
export class SignInDeclined extends Error {
  override readonly name = 'SignInDeclined';
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** How long provider metadata is cached. Providers rarely change their endpoints. */
const discoveryMs = 10 * 60_000;
const requestTimeoutSeconds = 10;
const maxDiscovered = 50;
/** The maximum length in OpenID Connect Core 1.0, section 2. */
const maxSubject = 255;

interface Discovered {
  readonly configuration: Promise<Configuration>;
  /** Fetches and caches the provider's keys. */
  keys?: ReturnType<typeof createRemoteJWKSet>;
  readonly expiresAtMs: number;
}

export class OidcClients {
  readonly #clock: Clock;
  readonly #discovered = new Map<string, Discovered>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Generates the random values for one sign-in. */
  async newChecks(): Promise<SignInChecks> {
    const { randomNonce, randomPKCECodeVerifier, randomState } = await import('openid-client');
    return { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
  }

  /** Returns the URL of the provider's sign-in page.
   *  @throws OidcFailure */
  async authorizationUrl(
    client: OidcClient,
    { state, nonce, codeVerifier }: SignInChecks,
    redirectUri: string,
  ): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
    return buildAuthorizationUrl(await this.#discover(client).configuration, {
      redirect_uri: redirectUri,
      scope: ['openid', ...client.scopes].join(' '),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
  }

  /** Exchanges the authorization code in the provider's response for the user's claims. Claims in the ID token take
   *  precedence over claims from the user info endpoint.
   *  @param response the redirect URI with the provider's parameters
   *  @throws OidcFailure, SignInDeclined */
  async claimsOf(client: OidcClient, checks: SignInChecks, response: URL): Promise<Claims> {
    const { AuthorizationResponseError, authorizationCodeGrant, fetchUserInfo } =
      await import('openid-client');
    const { configuration: discovered } = this.#discover(client);
    const configuration = await discovered;
    try {
      const tokens = await authorizationCodeGrant(configuration, response, {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new OidcFailure('The provider sent no ID token.');
      if (claims.sub.length > maxSubject) throw new OidcFailure('The subject is too long.');
      if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
      const info = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return { ...info, ...claims };
    } catch (error) {
      if (error instanceof AuthorizationResponseError) throw new SignInDeclined(error.error);
      throw failureOf(error);
    }
  }

  /** Returns the URL of the provider's sign-out page (OpenID Connect RP-Initiated Logout 1.0), or undefined if the
   *  provider has none. The provider does not redirect back, so no URL of this service needs to be registered.
   *  @throws OidcFailure */
  async signOutUrl(client: OidcClient): Promise<URL | undefined> {
    const { buildEndSessionUrl } = await import('openid-client');
    const configuration = await this.#discover(client).configuration;
    return configuration.serverMetadata().end_session_endpoint === undefined
      ? undefined
      : buildEndSessionUrl(configuration);
  }

  /** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6).
   *  @throws OidcFailure */
  async verifyLogout(client: OidcClient, token: string): Promise<LogoutToken> {
    const { createRemoteJWKSet, jwtVerify } = await import('jose');
    const discovered = this.#discover(client);
    const { issuer, jwks_uri: keysUrl } = (await discovered.configuration).serverMetadata();
    if (keysUrl === undefined) throw new OidcFailure('The provider publishes no keys.');
    discovered.keys ??= createRemoteJWKSet(new URL(keysUrl));
    try {
      const { payload } = await jwtVerify(token, discovered.keys, {
        issuer,
        audience: client.clientId,
        algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519', 'RS384', 'ES384', 'RS512'],
        requiredClaims: ['iat', 'jti', 'events'],
        maxTokenAge: '10 minutes',
        currentDate: this.#clock.now(),
      });
      const { sub, sid, events, nonce } = payload;
      if (nonce !== undefined || !Object.hasOwn(events as object, logoutEvent))
        throw new OidcFailure('The token is not a logout token.');
      if (typeof sid === 'string') return { issuer, providerSessionId: sid };
      if (sub !== undefined) return { issuer, subject: sub };
      throw new OidcFailure('The logout token names neither a session nor a user.');
    } catch (error) {
      throw failureOf(error);
    }
  }

  #discover(client: OidcClient): Discovered {
    const nowMs = this.#clock.now().getTime();
    const key = JSON.stringify([client.issuer, client.clientId, client.clientSecret]);
    const known = this.#discovered.get(key);
    if (known !== undefined && known.expiresAtMs > nowMs) return known;
    const configuration = discover(client);
    const discovered: Discovered = { configuration, expiresAtMs: nowMs + discoveryMs };
    this.#discovered.delete(key);
    this.#discovered.set(key, discovered);
    const [oldest] = this.#discovered.keys();
    if (this.#discovered.size > maxDiscovered && oldest !== undefined)
      this.#discovered.delete(oldest);
    // Failures are not cached, so that the next sign-in retries.
    configuration.catch(() => this.#discovered.delete(key));
    return discovered;
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcClient): Promise<Configuration> {
  const { allowInsecureRequests, ClientSecretBasic, discovery, enableNonRepudiationChecks, None } =
    await import('openid-client');
  const authentication = clientSecret === undefined ? None() : ClientSecretBasic(clientSecret);
  try {
    return await discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout: requestTimeoutSeconds,
      execute: [
        // By default, the library trusts TLS and does not check the signature of the ID token.
        enableNonRepudiationChecks,
        // The domain accepts HTTP for loopback addresses only.
        ...(issuer.startsWith('http:') ? [allowInsecureRequests] : []),
      ],
    });
  } catch (error) {
    throw failureOf(error);
  }
}

/** Uses only the description of the error. The cause may contain a response with tokens. */
function failureOf(error: unknown): OidcFailure {
  if (error instanceof OidcFailure) return error;
  const { message, code, error: reason } = error as Error & { code?: unknown; error?: unknown };
  const details = [code, reason].filter((one) => typeof one === 'string').join(', ');
  return new OidcFailure(details === '' ? message : `${message} (${details})`);
}
