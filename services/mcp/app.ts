/** The HTTP endpoint. Authenticates requests, and responds to requests that are not part of the protocol. */
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo } from '@modelcontextprotocol/server';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from '#services/shared/logger.ts';
import { Api, ApiProblem } from '#services/shared/api-client.ts';
import { mcpServer, type ServerDeps } from './server.ts';

/** The size limit of requests. Arguments may contain a script file, so this is the API's limit for a file encoded as
 *  JSON. */
const maxBodyBytes = 32 * 1024 * 1024;

export interface AppDeps extends ServerDeps {
  /** Host names of this server, in addition to the names of the machine itself. */
  readonly hosts: readonly string[];
  readonly logger: Pick<Logger, 'error'>;
}

/** Loopback names, in the form of `Host` and `Origin` headers. */
const ownHosts = ['localhost', '127.0.0.1', '[::1]'];

export function mcpApp(deps: AppDeps): {
  readonly app: Express;
  readonly close: () => Promise<void>;
} {
  const handler = createMcpHandler(({ authInfo }) => mcpServer(deps, authInfo?.token ?? ''), {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => deps.logger.error({ error }, 'protocol request failed'),
  });
  const serve = toNodeHandler(handler, { maxRequestBodySize: maxBodyBytes });
  const hosts = [...ownHosts, ...deps.hosts];
  const app = express();
  app.disable('x-powered-by');
  app.get('/health', (_request, response) => void response.type('text').send('mcp'));
  app.use('/mcp', hostHeaderValidation(hosts), originValidation(hosts));
  app.get('/mcp', refusePlainGet);
  app.use('/mcp', (request, response, next) => void authenticate(deps, request, response, next));
  app.all('/mcp', (request, response) => void serve(request, response));
  return { app, close: () => handler.close() };
}

/** Refuses plain GET requests with 406, because the endpoint does not serve them. The response shows that the server is
 *  running. */
function refusePlainGet(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.accept?.includes('text/event-stream') === true) return next();
  response
    .status(406)
    .json(fault(-32_000, 'Not Acceptable: the client must accept text/event-stream'));
}

async function authenticate(
  { backendUrl }: AppDeps,
  request: Request & { auth?: AuthInfo },
  response: Response,
  next: NextFunction,
): Promise<void> {
  const token = /^bearer ([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  try {
    if (token === undefined) throw new ApiProblem(401, 'unauthenticated', 'A token is required.');
    const { body } = await new Api(backendUrl, token, { client: 'mcp' }).call<{ email: string }>(
      'GET',
      '/auth/me',
    );
    request.auth = { token, clientId: body.email, scopes: [] };
  } catch (error) {
    const { status, message } = error instanceof ApiProblem ? error : unavailable;
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    if (status === 503) response.setHeader('Retry-After', '1');
    response.status(status).json(fault(-32_001, message));
    return;
  }
  next();
}

const unavailable = new ApiProblem(503, 'unavailable', 'The backend does not respond.');

function fault(code: number, message: string) {
  return { jsonrpc: '2.0', id: null, error: { code, message } };
}
