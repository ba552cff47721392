/** A certified OpenID provider on a loopback address that accepts every account. Its sign-in page requests only a
 *  name. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { Provider } from 'oidc-provider';

export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claims of each account by the account's name, which is also its subject. */
  readonly accounts: Map<string, object>;
  /** Signs all following ID tokens with a key other than the published one. */
  signIdTokensWith(key: CryptoKey | undefined): void;
  /** Returns a logout token signed with the provider's key. @param changes claims to replace */
  logoutToken(changes?: object, key?: CryptoKey): Promise<string>;
  close(): Promise<void>;
}

export const testClient = { clientId: 'orchestrator', clientSecret: 'a-secret-of-the-client' };

/** @param redirectUris the redirect URIs of the service under test */
export async function startTestProvider(redirectUris: readonly string[]): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const signingKey = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'test' };
  const accounts = new Map<string, object>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: testClient.clientId,
        client_secret: testClient.clientSecret,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [signingKey] },
    cookies: { keys: ['test'] },
    claims: {
      openid: ['sub', 'sid'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups'],
    },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => Promise.resolve({ sub, ...accounts.get(sub) }),
    }),
    // Skips the consent page, as if an administrator had consented for all users.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  let idTokenKey: CryptoKey | undefined;
  provider.use(async (context, next) => {
    await next();
    const { id_token: idToken } = (context.body ?? {}) as { id_token?: string };
    if (idTokenKey === undefined || idToken === undefined) return;
    const signed = new SignJWT(decodeJwt(idToken)).setProtectedHeader({
      alg: 'RS256',
      kid: 'test',
    });
    context.body = { ...(context.body as object), id_token: await signed.sign(idTokenKey) };
  });
  const handle = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const served = request.url?.startsWith('/interaction/')
      ? interact(provider, request, response)
      : handle(request, response);
    served.catch((error: unknown) => response.destroy(error as Error));
  });
  return {
    issuer,
    ...testClient,
    accounts,
    signIdTokensWith: (key) => {
      idTokenKey = key;
    },
    logoutToken: async (changes = {}, key = privateKey) =>
      await new SignJWT({
        iss: issuer,
        aud: testClient.clientId,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        jti: 'logout-1',
        ...changes,
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'test', typ: 'logout+jwt' })
        .setIssuedAt()
        .sign(key),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'POST') {
    const form = new URLSearchParams(await text(request));
    const accountId = form.get('account') ?? '';
    const result =
      accountId === ''
        ? { error: 'access_denied', error_description: 'The user cancelled.' }
        : { login: { accountId } };
    await provider.interactionFinished(request, response, result);
    return;
  }
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(
    '<title>Test provider</title><form method="post"><label>Account <input name="account"></label>' +
      '<button>Continue</button></form>',
  );
}
