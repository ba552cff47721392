/** Runs a small HTTP server for health checks and metrics. */
import type { Server, ServerResponse } from 'node:http';
import { createBriefServer } from './connections/brief-server.ts';
import { listen, stopListening } from './listen.ts';

export interface HealthServerOptions {
  readonly host: string;
  /** The port to listen on; 0 selects a free port. */
  readonly port: number;
  /** The body of `/health` and `/livez` while the process is healthy. Without a name, these paths do not exist. */
  readonly name?: string;
  /** Returns why the process is unhealthy, or undefined if it is healthy. By default, the process is always healthy. */
  readonly problem?: () => string | undefined | Promise<string | undefined>;
  /** Describes degraded functions of a healthy process. The description is the second line of the response. */
  readonly degraded?: () => string | undefined;
  /** The content of `/metrics`. Without it, the path does not exist. */
  readonly metrics?: {
    readonly contentType: string;
    metrics(): Promise<string>;
  };
}

export interface HealthServer {
  readonly port: number;
  /** Stops the server and aborts responses in progress. Idempotent. */
  close(): Promise<void>;
}

/** Starts listening. @throws Error if the port is in use */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createBriefServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      reply(response, 405, 'method not allowed');
    } else if (path === '/health' && options.name !== undefined) {
      void answer(response, () => health(options));
    } else if (path === '/livez' && options.name !== undefined) {
      reply(response, 200, options.name);
    } else if (path === '/metrics' && options.metrics !== undefined) {
      response.setHeader('Content-Type', options.metrics.contentType);
      void answer(response, async () => ({ status: 200, body: await options.metrics?.metrics() }));
    } else {
      reply(response, 404, 'not found');
    }
  });
  const port = await listen(server, options.port, options.host);
  return { port, close: () => close(server) };
}

async function health(options: HealthServerOptions): Promise<{ status: number; body?: string }> {
  const problem = await options.problem?.();
  if (problem !== undefined) return { status: 503, body: problem };
  const lines = [options.name ?? '', options.degraded?.()];
  return { status: 200, body: lines.filter((line) => line !== undefined).join('\n') };
}

async function answer(
  response: ServerResponse,
  make: () => Promise<{ status: number; body?: string | undefined }>,
): Promise<void> {
  try {
    const { status, body = '' } = await make();
    reply(response, status, body);
  } catch {
    // The client receives only the status, because the process logs errors where they occur.
    reply(response, 503, 'unavailable');
  }
}

function reply(response: ServerResponse, status: number, body: string): void {
  if (!response.hasHeader('Content-Type') || status !== 200) {
    response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  }
  response.writeHead(status, { 'Cache-Control': 'no-store' }).end(body);
}

async function close(server: Server): Promise<void> {
  const closed = stopListening(server);
  server.closeAllConnections();
  await closed;
}
