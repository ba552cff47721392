/** Routes requests to operations. Each response conforms to the contract. */
import type { CommandContext } from '#domain/ports/commands.ts';
import type { RefusalRecorder } from '#services/shared/refusals.ts';
import type { Express, NextFunction, Request, Response } from 'express';
import type { Services } from '../services.ts';
import { recordDisclosure } from './disclosures.ts';
import {
  admit,
  begin,
  callOf,
  readParameters,
  readQuery,
  refusalOf,
  resourceOf,
  type Exchange,
} from './exchange.ts';
import type { Idempotency, KeyedRequest } from './idempotency.ts';
import { awaitMinPosition } from './min-position.ts';
import type { Operation } from './operation.ts';
import { isProblem, methodNotAllowed, problem, type Problem } from './problem.ts';
import type { Answer } from './reply.ts';
import { BodyCut, discardAfterResponse, discardRest, readBody } from './wire/body.ts';
import { traceIdOf } from './wire/client.ts';
import { faultOf } from './wire/faults.ts';
import { answeringMethod, pathsOf, routeOf } from './wire/paths.ts';
import { traceRequest } from './wire/request-span.ts';
import { isRendered, render, send, whole, type Sendable } from './wire/send.ts';
import { spool } from './wire/spool.ts';

export interface RouterDeps {
  readonly services: Services;
  readonly idempotency: Idempotency;
  readonly refusals: RefusalRecorder;
}

/** Adds a route for each path of the operations. Other methods of a path get 405. */
export function addRoutes(app: Express, operations: readonly Operation[], deps: RouterDeps): void {
  for (const { path, methods, broader } of pathsOf(operations)) {
    app.all(routeOf(path), async (request: Request, response: Response, next: NextFunction) => {
      const method = answeringMethod(request.method);
      const operation = methods.get(method);
      if (operation !== undefined) await serve(operation, request, response, deps);
      else if (broader.has(method)) next();
      else
        await refuse(request, response, methodNotAllowed([...methods.keys(), ...broader.keys()]));
    });
  }
}

/** Responds to ordinary HTTP requests at WebSocket paths.
 *  @param paths with `{name}` for parameters */
export function addSocketPaths(app: Express, paths: readonly string[]): void {
  for (const path of paths) {
    app.all(routeOf(path), async (request: Request, response: Response) => {
      const isGet = answeringMethod(request.method) === 'get';
      await refuse(request, response, isGet ? upgradeRequired : methodNotAllowed(['get']));
    });
  }
}

const upgradeRequired = problem(
  'upgrade_required',
  'This path accepts only WebSocket connections.',
  {
    headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
  },
);

/** Responds to a request that matches no operation. */
export async function refuse(request: Request, response: Response, answer: Problem): Promise<void> {
  const traceId = traceIdOf(request);
  const isDiscarded = await discardRest(request);
  await send(response, render(answer, traceId), traceId);
  if (!isDiscarded) discardAfterResponse(request);
}

async function serve(
  operation: Operation,
  request: Request,
  response: Response,
  deps: RouterDeps,
): Promise<void> {
  const startedMs = performance.now();
  const { metrics, tracing } = deps.services;
  const exchange = begin(operation, request, response, deps.services);
  response.once('close', () => {
    const ms = performance.now() - startedMs;
    metrics.observe(operation, response.statusCode, ms / 1000);
    if (tracing !== undefined) traceRequest(exchange, ms, tracing);
  });
  await finish(exchange, await answerTo(exchange, deps), deps);
}

/** Processes a request. @returns `undefined` if the client has disconnected */
async function answerTo(exchange: Exchange, deps: RouterDeps): Promise<Sendable | undefined> {
  try {
    return await work(exchange, deps);
  } catch (error) {
    if (error instanceof BodyCut || exchange.request.socket.destroyed) return undefined;
    const { problem, logged } = faultOf(error);
    if (logged) {
      const { traceId, operation } = exchange;
      const fields = { trace_id: traceId, operation: operation.operationId, error };
      deps.services.logger.error(fields, 'request failed');
    }
    return problem;
  }
}

async function work(exchange: Exchange, deps: RouterDeps): Promise<Sendable> {
  const { operation, request } = exchange;
  // Parses the path parameters before the permission check, so that the audit trail can name the resource of a refused
  // request.
  const unreadable = readParameters(exchange);
  const refused = (await admit(exchange, deps.services)) ?? unreadable;
  if (refused !== undefined) return refused;
  const query = readQuery(exchange);
  if (isProblem(query)) return query;
  const body = operation.body && (await readBody(request, operation.body));
  if (isProblem(body)) return body;
  const call = callOf(exchange, query, body, deps.services);
  const behind = await awaitMinPosition({ ...call, operation }, deps.services);
  if (behind !== undefined) return behind;
  const handle = async (context: CommandContext, raw = call.raw): Promise<Answer> => {
    exchange.commandId = context.commandId;
    const answer = await operation.handle({ ...call, context, raw }, deps.services);
    await recordDisclosure(answer, resourceOf(exchange), context, deps.services);
    return answer;
  };
  const keyed = keyedRequest(exchange);
  if (keyed === undefined) return await handle(call.context);
  const content = body?.kind === 'raw' ? await spool(body.chunks) : undefined;
  try {
    const known = body?.kind === 'json' ? body.bytes : Buffer.from(content?.sha256 ?? '');
    const raw = content && ({ kind: 'raw', chunks: content.chunks() } as const);
    return await deps.idempotency.answer(
      {
        ...keyed,
        body: known,
        shownOnce: operation.shownOnce ?? [],
        gone: call.gone(),
      },
      async (own) =>
        whole(render(await handle({ ...call.context, ...own }, raw), exchange.traceId)),
    );
  } finally {
    await content?.remove();
  }
}

/** The request with its `Idempotency-Key`, if it has a valid key. */
function keyedRequest({
  operation,
  request,
  identity,
}: Exchange): Omit<KeyedRequest, 'body' | 'shownOnce' | 'gone'> | undefined {
  const key = request.get('Idempotency-Key');
  if (key === undefined || operation.creates !== true || identity === undefined) return undefined;
  const { userId } = identity.principal;
  return { key, userId, method: request.method, path: request.originalUrl };
}

async function finish(
  exchange: Exchange,
  answer: Sendable | undefined,
  { services, refusals }: RouterDeps,
): Promise<void> {
  const { request, response, traceId } = exchange;
  if (answer === undefined) {
    response.destroy();
    return;
  }
  const refusal = refusalOf(exchange, answer);
  if (refusal !== undefined) refusals.note(refusal);
  // Discards the rest of the body before the response, because a client that is still sending may not read a response.
  const isDiscarded = await discardRest(request);
  try {
    await send(response, isRendered(answer) ? answer : render(answer, traceId), traceId);
    if (!isDiscarded) discardAfterResponse(request);
  } catch (error) {
    if (!isGone(error)) {
      services.logger.error({ trace_id: traceId, error }, 'response could not be sent');
    }
    response.destroy();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
