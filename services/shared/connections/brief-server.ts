/** Creates HTTP servers for few and short requests, such as health checks and metrics. */
import type { RequestListener, Server } from 'node:http';
import { ConnectionLimits } from './connection-limits.ts';
import { createHttpServer } from './http-server.ts';
import { plainResponse } from './plain-response.ts';

const max = 64;
const deadlines = { headersMs: 5000, bodyMs: 5000, idleMs: 65_000 };

/**
 * Creates a server that is not listening yet. The connection limit leaves enough file descriptors for the rest of the
 * process.
 */
export function createBriefServer(listener: RequestListener): Server {
  const connections = new ConnectionLimits({
    max,
    maxPerAddress: max,
    isShared: () => true,
    refusal: plainResponse(503),
  });
  return createHttpServer(listener, { connections, deadlines });
}
