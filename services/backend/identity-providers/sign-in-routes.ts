/** Signs in users at an identity provider, and ends their sessions when the provider requests it. */
import { text } from 'node:stream/consumers';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import { OidcFailure, SignInDeclined } from '#infra/oidc/oidc.ts';
import {
  findIdentityProviderBySlug,
  listIdentityProviders,
} from '#projections/identity-providers/queries.ts';
import { findSessionsOfIdentity } from '#projections/sessions/queries.ts';
import Type from 'typebox';
import { cookieOf } from '../access/refresh-cookie.ts';
import { operation, type Operation } from '../http/operation.ts';
import { refusalProblem } from '../http/outcome.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { json, nothing } from '../http/reply.ts';
import { Exact, pathParameters } from '../http/schema.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { openClient } from './client-secret.ts';
import { idOf, type RefusalReason } from './resolve.ts';
import { SignInProviderItems } from './schema.ts';
import { pendingSignIn, signInCookie } from './sign-in-state.ts';
import { redirectUri } from './view.ts';

const tag = 'Authentication';
const parameters = { provider: pathParameters.identityProviderSlug };

const providers = operation({
  method: 'get',
  path: '/api/v1/auth/providers',
  operationId: 'listSignInProviders',
  summary: 'List the identity providers shown on the sign-in page',
  tag,
  access: 'public',
  responses: { 200: { description: 'The providers.', schema: SignInProviderItems } },
  handle: async (_call, { readModels }) => {
    const rows = await listIdentityProviders(readModels);
    const items = rows
      .filter(({ settings }) => settings.enabled)
      .map(({ slug, settings }) => ({
        slug,
        name: settings.name,
        start_url: `/api/v1/auth/oidc/${slug}/start`,
      }));
    return json(200, { items });
  },
});

/** Redirects the browser to the sign-in page, which shows the reason. */
function declined(
  reason: RefusalReason | 'declined' | 'expired' | 'no_sign_out' | 'provider_failed',
): Problem {
  return problem('unauthenticated', `The sign-in was refused: ${reason}.`, {
    redirectTo: `/login?reason=${reason}`,
  });
}

const start = operation({
  method: 'get',
  path: '/api/v1/auth/oidc/{provider}/start',
  operationId: 'startProviderSignIn',
  summary: 'Open the sign-in page of an identity provider',
  undescribed: true,
  tag,
  access: 'public',
  parameters,
  query: Exact({
    next: Type.Optional(
      Type.String({ maxLength: 1000, description: 'Path of the dashboard to open afterwards.' }),
    ),
  }),
  responses: {
    303: { description: 'Redirects to the provider.', headers: ['Location', 'Set-Cookie'] },
  },
  handle: async ({ parameters: { provider: slug }, query, secure, origin }, services) => {
    const row = await findIdentityProviderBySlug(services.readModels, slug);
    if (row === undefined || !row.settings.enabled) return notFound;
    const { oidc, vault, tokenKey: key, clock, logger } = services;
    try {
      const checks = await oidc.newChecks();
      const client = await openClient(vault, row);
      const url = await oidc.authorizationUrl(client, checks, redirectUri(slug, origin));
      const pending = { ...checks, slug, next: query.next ?? '/' };
      const cookie = await signInCookie(pending, { key, clock, secure });
      return nothing(303, { Location: url.href, 'Set-Cookie': cookie });
    } catch (error) {
      if (!(error instanceof OidcFailure)) throw error;
      logger.warn({ slug, reason: error.message }, 'identity provider failed');
      return declined('provider_failed');
    }
  },
});

const callback = operation({
  method: 'get',
  path: '/api/v1/auth/oidc/{provider}/callback',
  operationId: 'finishProviderSignIn',
  summary: 'Finish a sign-in at an identity provider',
  description:
    'The provider sends the browser here. The response sets the refresh cookie and redirects to the ' +
    'dashboard, with the `session_key` in the fragment of the URL.',
  undescribed: true,
  tag,
  access: 'public',
  parameters,
  // Permits additional parameters, because some providers add them.
  query: Type.Object(
    { code: Type.Optional(Type.String()), state: Type.Optional(Type.String()) },
    { additionalProperties: true },
  ),
  responses: {
    303: { description: 'Redirects to the dashboard.', headers: ['Location', 'Set-Cookie'] },
  },
  handle: async (call, services) => {
    const { provider: slug } = call.parameters;
    const { oidc, vault, tokenKey: key, clock, logger } = services;
    const cookieOptions = { key, clock, secure: call.secure };
    const pending = await pendingSignIn(call.header('Cookie'), call.query.state, cookieOptions);
    if (pending === undefined || pending.slug !== slug) return declined('expired');
    const row = await findIdentityProviderBySlug(services.readModels, slug);
    if (row === undefined || !row.settings.enabled) return notFound;
    try {
      const response = new URL(
        redirectUri(slug, call.origin) + new URL(call.url, call.origin).search,
      );
      const claims = await oidc.claimsOf(await openClient(vault, row), pending, response);
      const signedIn = await completeSignIn(row, claims, call, services);
      if (typeof signedIn === 'string') return declined(signedIn);
      if (isProblem(signedIn)) return signedIn;
      const fragment = new URLSearchParams({
        session_key: signedIn.sessionKey,
        provider: slug,
        next: pending.next,
      });
      return nothing(303, {
        Location: `/login#${fragment.toString()}`,
        'Set-Cookie': cookieOf(signedIn.refreshToken, call.secure),
      });
    } catch (error) {
      if (error instanceof SignInDeclined) return declined('declined');
      if (!(error instanceof OidcFailure)) throw error;
      logger.warn({ slug, reason: error.message }, 'identity provider failed');
      return declined('provider_failed');
    }
  },
});

const signOut = operation({
  method: 'get',
  path: '/api/v1/auth/oidc/{provider}/logout',
  operationId: 'startProviderSignOut',
  summary: 'Open the sign-out page of an identity provider',
  undescribed: true,
  tag,
  access: 'public',
  parameters,
  responses: { 303: { description: 'Redirects to the provider.', headers: ['Location'] } },
  handle: async ({ parameters: { provider: slug } }, services) => {
    const row = await findIdentityProviderBySlug(services.readModels, slug);
    if (row === undefined || !row.settings.enabled) return notFound;
    const { oidc, vault, logger } = services;
    try {
      const url = await oidc.signOutUrl(await openClient(vault, row));
      return url === undefined ? declined('no_sign_out') : nothing(303, { Location: url.href });
    } catch (error) {
      if (!(error instanceof OidcFailure)) throw error;
      logger.warn({ slug, reason: error.message }, 'identity provider failed');
      return declined('provider_failed');
    }
  },
});

const maxLogoutBytes = 32 * 1024;

const backchannelLogout = operation({
  method: 'post',
  path: '/api/v1/auth/oidc/{provider}/backchannel-logout',
  operationId: 'endProviderSessions',
  summary: 'End sessions when a user signs out at the identity provider',
  description:
    'Implements OpenID Connect Back-Channel Logout 1.0. The provider sends a signed logout token ' +
    'as form data. Register this URL with the provider.',
  tag,
  access: 'public',
  parameters,
  body: {
    schema: Type.Object({ logout_token: Type.String() }, { additionalProperties: true }),
    example: { logout_token: 'eyJhbGciOi…' },
    rawMaxBytes: maxLogoutBytes,
    rawMediaTypes: ['application/x-www-form-urlencoded'],
  },
  responses: { 200: { description: 'The sessions were ended.' } },
  refusals: ['unauthenticated'],
  handle: async ({ parameters: { provider: slug }, body, raw, context }, services) => {
    const row = await findIdentityProviderBySlug(services.readModels, slug);
    if (row === undefined) return notFound;
    const { oidc, vault, logger, readModels, ids, commands } = services;
    const form = raw && new URLSearchParams(await text(raw.chunks));
    const token = form === undefined ? body.logout_token : (form.get('logout_token') ?? '');
    try {
      const ended = await oidc.verifyLogout(await openClient(vault, row), token);
      const sessions = await findSessionsOfIdentity(readModels, {
        identityProviderId: idOf(row),
        ...ended,
      });
      const outcome = await commands.executeAll(
        sessions.map((sessionId) => ({
          command: { type: 'CloseSession', sessionId, reason: 'provider_logout' },
          context: { ...context, commandId: mustParse(parseCommandId, ids.next()) },
        })),
      );
      return outcome.kind === 'refused' ? refusalProblem(outcome.refusal) : nothing(200);
    } catch (error) {
      if (!(error instanceof OidcFailure)) throw error;
      logger.warn({ slug, reason: error.message }, 'logout token refused');
      return problem('unauthenticated', 'The logout token is not valid.');
    }
  },
});

export const providerSignInOperations: readonly Operation[] = [
  providers,
  start,
  callback,
  signOut,
  backchannelLogout,
];
