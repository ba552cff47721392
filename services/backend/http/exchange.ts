/** Processes a request up to its operation: authentication, authorization and validation. */
import type { ServerResponse } from 'node:http';
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseCommandId, type CommandId, type SessionId } from '#domain/kernel/ids.ts';
import { isStorable } from '#domain/kernel/json.ts';
import { hasRightAnywhere, scopesOf } from '#domain/kernel/rights.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Refused } from '#services/shared/refusals.ts';
import type { Request, Response } from 'express';
import type { Services } from '../services.ts';
import { authenticate, type Identity } from './credentials/authentication.ts';
import type { Access, Call, Operation } from './operation.ts';
import { isProblem, notFound, problem, problemKinds, type Problem } from './problem.ts';
import { queryProblem } from './validation.ts';
import type { ReadBody } from './wire/body.ts';
import { clientAddress, isSecure, originOf, traceOf, type RequestTrace } from './wire/client.ts';
import type { Sendable } from './wire/send.ts';

/** A request and its response. The optional fields are set during processing. */
export interface Exchange {
  readonly operation: Operation;
  readonly request: Request;
  readonly response: Response;
  readonly traceId: string;
  readonly trace: RequestTrace;
  readonly ip: string;
  /** The ID of the command that the request executes, if any. */
  commandId?: CommandId;
  identity?: Identity;
  /** The result of the operation's `ahead` function. */
  ahead?: Promise<unknown>;
  parameters?: Readonly<Record<string, unknown>>;
}

export function begin(
  operation: Operation,
  request: Request,
  response: Response,
  { trustedProxies }: Services,
): Exchange {
  const ip = clientAddress(request, trustedProxies);
  const trace = traceOf(request);
  return { operation, request, response, traceId: trace.traceId, trace, ip };
}

/** Authenticates the caller and checks the permission. Every operation except a public one requires a credential.
 *  @returns the reason for a refusal */
export async function admit(exchange: Exchange, services: Services): Promise<Problem | undefined> {
  const { access } = exchange.operation;
  if (access === 'public') return undefined;
  const { tokens, tokenUses, secondFactorRoles } = services;
  // `ahead` starts its reads only for requests with a well-formed credential.
  const identity = await authenticate(exchange.request.headers.authorization, {
    tokens,
    tokenUses,
    secondFactorRoles,
    findSession: (id) => {
      askAhead(exchange, services);
      return services.findSession(id);
    },
    findToken: (hash) => {
      askAhead(exchange, services);
      return services.findToken(hash);
    },
  });
  if (isProblem(identity)) return identity;
  exchange.identity = identity;
  const { allowsFactorSetUp = false } = exchange.operation;
  if (identity.mustSetUpFactor === true && !allowsFactorSetUp) return factorMissing;
  return accessProblem(access, identity);
}

const factorMissing = problem(
  'second_factor_missing',
  'Your role requires a second factor. Sign in to the dashboard, or reload it, and enable the ' +
    'second factor.',
);

function askAhead(exchange: Exchange, services: Services): void {
  const { operation, parameters = {} } = exchange;
  const isRead = Object.keys(operation.parameters ?? {}).every((name) => name in parameters);
  const asked = isRead ? operation.ahead?.(parameters, services) : undefined;
  if (asked === undefined) return;
  // Prevents an unhandled-rejection error. The code that awaits the promise handles the rejection.
  asked.catch(() => undefined);
  exchange.ahead = asked;
}

function accessProblem(
  access: Exclude<Access, 'public'>,
  { principal, credential }: Identity,
): Problem | undefined {
  if (access === 'signed-in') return undefined;
  if (access === 'session') return credential.kind === 'session' ? undefined : needsSession;
  if (access.session === true && credential.kind !== 'session') return needsSession;
  if (hasRightAnywhere(principal, access.right)) return undefined;
  const { token: _, ...owner } = principal;
  if (!hasRightAnywhere(owner, access.right)) {
    return problem('forbidden', `The role ${principal.role} does not allow this request.`);
  }
  const givers = scopesOf[access.right].map((scope) => `"${scope}"`).join(' or ');
  return problem(
    'forbidden',
    `The API token does not allow this request. Use a token with the scope ${givers}.`,
  );
}

/** The response to a request with an API token if the operation requires a sign-in. */
export const needsSession = problem(
  'forbidden',
  'API tokens cannot be used for this request. Use a session token instead.',
);

/** Parses the path parameters. Malformed IDs return 404. */
export function readParameters(exchange: Exchange): Problem | undefined {
  const parsed: Record<string, unknown> = {};
  exchange.parameters = parsed;
  for (const [name, parameter] of Object.entries(exchange.operation.parameters ?? {})) {
    const given: string | readonly string[] | undefined = exchange.request.params[name];
    const value = parameter.parse(typeof given === 'string' ? given : (given ?? []).join('/'));
    if (value === undefined) return notFound;
    parsed[name] = value;
  }
  return undefined;
}

/** The query, converted to the types of its schema. */
export function readQuery({ operation, request }: Exchange): object | Problem {
  const given: Record<string, unknown> = { ...request.query };
  for (const [name, value] of Object.entries(given)) {
    if (operation.query === undefined) {
      return problem('invalid_parameter', `Unknown parameter "${name}".`);
    }
    if (typeof value !== 'string' || !isStorable(value)) {
      return problem(
        'invalid_parameter',
        `The parameter "${name}" must be given once, as plain text.`,
      );
    }
  }
  if (operation.query === undefined) return given;
  return queryProblem(operation.query, given) ?? given;
}

/** The handler's arguments. */
export function callOf(
  exchange: Exchange,
  query: object,
  body: ReadBody | undefined,
  { ids, trustedProxies, publicUrl }: Services,
): Call {
  const { request, response, identity, traceId, ip } = exchange;
  return {
    parameters: exchange.parameters as Call['parameters'],
    query,
    body: body?.kind === 'json' ? body.value : {},
    raw: body?.kind === 'raw' ? body : undefined,
    // The operation's types guarantee that these fields are present if the operation requires them.
    principal: identity?.principal as Principal,
    sessionId: sessionOf(identity) as SessionId,
    mustSetUpFactor: identity?.mustSetUpFactor ?? false,
    context: {
      commandId: mustParse(parseCommandId, ids.next()),
      actor: actorOf(identity),
      ip,
      correlationId: traceId,
      causationId: null,
    },
    ip,
    secure: isSecure(request, trustedProxies),
    origin: publicUrl ?? originOf(request, trustedProxies),
    url: request.originalUrl,
    header: (name) => request.get(name),
    headers: request.headers,
    gone: () => goneSignal(response),
    ahead: exchange.ahead ?? Promise.resolve(),
  };
}

function sessionOf(identity: Identity | undefined): SessionId | undefined {
  return identity?.credential.kind === 'session' ? identity.credential.sessionId : undefined;
}

export function actorOf(identity: Identity | undefined): CommandContext['actor'] {
  if (identity === undefined) return { kind: 'anonymous' };
  const { userId, email, token } = identity.principal;
  if (token === undefined) return { kind: 'user', userId, email };
  const { tokenId, name } = token;
  return { kind: 'user', userId, email, token: { tokenId, name } };
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** The audit entry of a refused API request. */
export function refusalOf(exchange: Exchange, answer: Sendable): Refused | undefined {
  const { operation, identity, ip, traceId } = exchange;
  if (!('code' in answer) || answer.code === undefined) return undefined;
  if ('isExpected' in answer && answer.isExpected) return undefined;
  const { status } = problemKinds[answer.code];
  if (status >= 500 || !operation.path.startsWith('/api/v1/')) return undefined;
  return {
    operation: `${operation.method.toUpperCase()} ${operation.path}`,
    resource: answer.resource ?? resourceOf(exchange),
    code: answer.code,
    status,
    actor: actorOf(identity),
    ip,
    correlationId: traceId,
  };
}

/** Stream ID of the affected resource, if the path contains it. */
export function resourceOf({ operation, parameters }: Exchange): string | null {
  for (const [name, { stream }] of Object.entries(operation.parameters ?? {})) {
    const id = parameters?.[name];
    if (stream !== undefined && typeof id === 'string') return `${stream}-${id}`;
  }
  return null;
}
