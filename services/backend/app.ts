/** The backend, which serves routes and WebSockets on one HTTP server and runs background work. */
import type { Server } from 'node:http';
import type { ScriptId, SessionId } from '#domain/kernel/ids.ts';
import { purgeStoredAnswers } from '#infra/postgres/access/idempotency-answers.ts';
import { purgeFailures } from '#infra/postgres/access/login-failures.ts';
import { purgeSessionTokens } from '#infra/postgres/access/session-tokens.ts';
import { purgeTickets } from '#infra/postgres/access/ws-tickets.ts';
import { readWaitingFor } from '#infra/postgres/queue/waiting-for.ts';
import { OidcClients } from '#infra/oidc/oidc.ts';
import { batched } from '#projections/batched.ts';
import { findRunnableScripts } from '#projections/scripts/queries.ts';
import { findOpenSessions } from '#projections/sessions/queries.ts';
import { findLiveTokens } from '#projections/tokens/queries.ts';
import { createHttpServer } from '#services/shared/connections/http-server.ts';
import { listen, stopListening } from '#services/shared/listen.ts';
import { startLoop } from '#services/shared/loop.ts';
import { ParameterSchemas } from '#services/shared/parameter-schemas/parameter-schemas.ts';
import { bcryptPasswords } from '#services/shared/passwords.ts';
import { RefusalRecorder } from '#services/shared/refusals.ts';
import { TokenUses } from '#services/shared/token-uses.ts';
import { version } from '#services/shared/version.ts';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { LoginThrottle } from './access/login-throttle.ts';
import { createAccessTokens } from './http/credentials/access-tokens.ts';
import { authenticate } from './http/credentials/authentication.ts';
import { Idempotency } from './http/idempotency.ts';
import { createMetrics } from './http/metrics.ts';
import { isProblem, notFound } from './http/problem.ts';
import { addRoutes, addSocketPaths, refuse } from './http/router.ts';
import { isSecure } from './http/wire/client.ts';
import { faultOf } from './http/wire/faults.ts';
import { setSecurityHeaders } from './http/wire/security-headers.ts';
import { socketDescriptions } from './live/description.ts';
import { WebSockets } from './live/web-sockets.ts';
import { operations } from './operations.ts';
import type { ProcessDeps, Services } from './services.ts';
import { addDashboard } from './static/dashboard.ts';
import { addDocs } from './static/docs.ts';
import { addPreviewFrame } from './static/preview-frame.ts';
import { wheelOf, type Wheel } from './static/wheel.ts';
import { WebhookMisses } from './webhooks/misses.ts';

const purgeEveryMs = 10 * 60_000;
const heartbeatMs = 15_000;

export interface Backend {
  readonly services: Services;
  /** Starts listening for connections.
   *  @returns the port
   *  @throws if the port is in use */
  listen(port: number, host: string): Promise<number>;
  /** Resolves when all background writes of completed requests have finished. */
  settle(): Promise<void>;
  /** Makes the health check report "not ready", and closes each connection after its response. New connections are
   *  still accepted. */
  announceStop(): void;
  /** Ends pending work within seconds, and stops. Idempotent. */
  close(): Promise<void>;
}

/** Creates the backend. It serves requests once `listen` has been called. */
export function createBackend(deps: ProcessDeps): Backend {
  const services = servicesOf(deps);
  const refusals = new RefusalRecorder(services);
  const idempotency = new Idempotency(services);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  // Strict routing: `/metrics/` must not match `/metrics`, because a reverse proxy hides only the exact path.
  app.enable('strict routing');
  app.use((request, response, next) => {
    setSecurityHeaders(response, isSecure(request, services.trustedProxies));
    next();
  });
  addRoutes(app, operations, { services, idempotency, refusals });
  addSocketPaths(
    app,
    socketDescriptions.map(({ path }) => path),
  );
  addDocs(app);
  addPreviewFrame(app);
  addDashboard(app, services.dashboardDir);
  addLastResort(app, services);
  const server = createHttpServer(app, services);
  const sockets = new WebSockets(services, refusals, { heartbeatMs });
  sockets.attach(server);
  const purge = startLoop({
    name: 'purge expired responses and counters',
    everyMs: purgeEveryMs,
    runOnce: async () => await purgeOnce(services),
    logger: services.logger,
  });
  return {
    services,
    listen: (port, host) => listen(server, port, host),
    settle: async () => {
      const { tokenUses, webhookMisses } = services;
      await Promise.all([refusals.flush(), tokenUses.flush(), webhookMisses.flush()]);
    },
    announceStop: () => services.connections.closeAfterResponses(),
    close: async () => {
      await Promise.all([stopServer(server), sockets.close(), purge.stop()]);
      await Promise.all([
        refusals.close(),
        services.tokenUses.close(),
        services.webhookMisses.close(),
        services.parameterSchemas.close(),
      ]);
    },
  };
}

/** Resolves after the handlers of all requests received so far have queued their reads. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function servicesOf(deps: ProcessDeps): Services {
  return {
    ...deps,
    tokens: createAccessTokens(deps.tokenKey, deps.clock),
    oidc: new OidcClients(deps.clock),
    findSession: batched(async (ids: readonly SessionId[]) => {
      const sessions = await findOpenSessions(deps.readModels, ids);
      return new Map(sessions.map((session) => [session.session_id, session]));
    }, nextTurn),
    findToken: batched(async (hashes: readonly string[]) => {
      const tokens = await findLiveTokens(deps.readModels, hashes, deps.clock.now());
      return new Map(tokens.map((token) => [token.token_hash, token]));
    }, nextTurn),
    tokenUses: new TokenUses(deps),
    sdkWheel: packedOnce(deps.sdkDir),
    webhookMisses: new WebhookMisses(deps),
    findRunnable: batched(
      (ids: readonly ScriptId[]) => findRunnableScripts(deps.readModels, ids),
      nextTurn,
    ),
    findWaitingFor: batched(
      (ids: readonly string[]) => readWaitingFor(deps.database, ids),
      nextTurn,
    ),
    parameterSchemas: new ParameterSchemas(),
    passwords: bcryptPasswords(deps.passwordCost),
    throttle: new LoginThrottle(deps),
    metrics: createMetrics(deps.connections, deps.runEnds),
    startedAt: deps.clock.now(),
  };
}

/** Caches a successful result, but not a failure. */
function packedOnce(folder: string): () => Promise<Wheel> {
  let packJson: Promise<Wheel> | undefined;
  return () => {
    packJson ??= wheelOf(folder, version);
    packJson.catch(() => (packJson = undefined));
    return packJson;
  };
}

async function purgeOnce({ database, clock }: Services): Promise<boolean> {
  const now = clock.now();
  const isMore = [
    await purgeStoredAnswers(database, now),
    await purgeFailures(database, now),
    await purgeSessionTokens(database, now),
    await purgeTickets(database),
  ];
  return isMore.includes(true);
}

async function stopServer(server: Server): Promise<void> {
  const closed = stopListening(server);
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 5_000);
  await closed;
  clearTimeout(timer);
}

/** Handles unknown paths. Under the API's path, an unauthenticated client cannot distinguish unknown paths from
 *  existing ones. */
function addLastResort(app: Express, services: Services): void {
  app.use(async (request, response) => {
    const isApi = request.path.startsWith('/api/');
    const identity = isApi
      ? await authenticate(request.headers.authorization, services)
      : undefined;
    await refuse(request, response, isProblem(identity) ? identity : notFound);
  });
  app.use(async (error: unknown, request: Request, response: Response, next: NextFunction) => {
    const { problem, logged } = faultOf(error);
    if (logged) services.logger.error({ error }, 'request failed');
    if (response.headersSent) next(error);
    else await refuse(request, response, problem);
  });
}
