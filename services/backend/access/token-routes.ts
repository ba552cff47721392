/** Manages API tokens, which programs use instead of signing in. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseTokenId } from '#domain/kernel/ids.ts';
import { hasRightAnywhere, canGrant } from '#domain/kernel/rights.ts';
import { findToken, type TokenView } from '#projections/tokens/queries.ts';
import { newApiToken } from '#services/shared/api-tokens.ts';
import type { Static } from 'typebox';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { accepted, noContent, positionHeader, writtenId } from '../http/outcome.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { tokensOf } from './token-list.ts';
import { ApiTokenPage, NewApiToken, ShownApiToken } from './token-schema.ts';
import { tokenJson } from './view.ts';
import { onePage } from '../http/paging.ts';

const tag = 'API tokens';
const path = '/api/v1/auth/tokens';
const defaultDays = 90;
const dayMs = 24 * 60 * 60 * 1000;

const list = operation({
  method: 'get',
  path,
  operationId: 'listTokens',
  summary: 'List your API tokens, newest first, without their values',
  tag,
  access: { right: 'tokens.manage' },
  query: Exact(pageQuery),
  responses: onePage(ApiTokenPage),
  handle: async ({ principal, query, url }, { readModels }) =>
    await tokensOf(principal.userId, { ...query, url }, readModels),
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createToken',
  summary: 'Create an API token',
  description:
    'Send the token as `Authorization: Bearer orch_…`, or to WebSockets as the subprotocol ' +
    "`orch.bearer.orch_…`. A request is allowed only if both the token's scopes and your current rights " +
    'allow it. Changes to your role or groups apply immediately, and the token is rejected while your ' +
    'account is disabled. The token is returned in this response only. An API token cannot create ' +
    'other API tokens, because they would remain valid after it is revoked.',
  tag,
  access: 'session',
  creates: true,
  shownOnce: ['token'],
  body: {
    schema: NewApiToken,
    example: { name: 'deploy', scopes: ['scripts:write', 'runs:write'], expires_in_days: 90 },
  },
  responses: {
    201: {
      description: 'The token was created.',
      schema: ShownApiToken,
      headers: ['Orch-Position'],
    },
  },
  handle: issue,
});

const remove = operation({
  method: 'delete',
  path: `${path}/{token_id}`,
  operationId: 'revokeToken',
  summary: 'Revoke an API token; it stops working immediately',
  description:
    'Closes the WebSockets of the token. Administrators may revoke tokens of other users.',
  tag,
  access: { right: 'tokens.manage' },
  parameters: { token_id: pathParameters.tokenId },
  responses: { 204: { description: 'The token was revoked.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters, context }, { commands, readModels }) => {
    const token = await findToken(readModels, parameters.token_id);
    if (token === undefined || !mayRevoke(principal, token)) return notFound;
    const command = { type: 'RevokeToken', tokenId: parameters.token_id } as const;
    return noContent(await commands.execute(command, context));
  },
});

function mayRevoke(principal: Principal, { user_id: owner }: TokenView): boolean {
  return owner === principal.userId || hasRightAnywhere(principal, 'users.manage');
}

type IssueCall = Pick<Call, 'context'> & {
  readonly principal: Principal;
  readonly body: Static<typeof NewApiToken>;
};

async function issue(
  { principal, body, context }: IssueCall,
  { commands, readModels, ids, clock }: Services,
): Promise<Answer> {
  const days = body.expires_in_days === undefined ? defaultDays : body.expires_in_days;
  const expiresAt = days === null ? null : new Date(clock.now().getTime() + days * dayMs);
  const tooMuch = grantProblem(principal, body.scopes);
  if (tooMuch !== undefined) return tooMuch;
  const { text, hash } = newApiToken();
  const outcome = accepted(
    await commands.execute(
      {
        type: 'IssueToken',
        tokenId: mustParse(parseTokenId, ids.next()),
        userId: principal.userId,
        name: body.name,
        scopes: body.scopes,
        tokenHash: hash,
        expiresAt: expiresAt === null ? null : expiresAt.toISOString(),
      },
      context,
    ),
  );
  if (isProblem(outcome)) return outcome;
  const tokenId = writtenId(outcome, parseTokenId);
  const row = await findToken(readModels, tokenId);
  if (row === undefined) return notFound;
  // A repeated request creates no token. The response omits the token's text, because only its hash is stored.
  const shown = outcome.repeated ? tokenJson(row) : { ...tokenJson(row), token: text };
  return json(201, shown, positionHeader(outcome));
}

/** The reason why the caller may not create the token. The caller's role must permit each scope. */
function grantProblem(
  principal: Principal,
  scopes: Static<typeof NewApiToken>['scopes'],
): Problem | undefined {
  const refused = scopes.filter((scope) => !canGrant(principal, scope));
  if (refused.length === 0) return undefined;
  const names = refused.map((scope) => `"${scope}"`).join(', ');
  return problem('forbidden', `You do not have the rights that these scopes grant: ${names}.`);
}

export const tokenOperations: readonly Operation[] = [list, create, remove];
