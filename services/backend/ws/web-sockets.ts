/** The WebSockets of the API: handshake, and the end of those that may not stay. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { mayAnywhere } from '#domain/kernel/rights.ts';
import { parseRunId, type RunId } from '#domain/kernel/ids.ts';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Identity } from '../http/authentication.ts';
import { clientAddress, traceIdOf } from '../http/client.ts';
import { actorOf } from '../http/exchange.ts';
import type { RefusalRecorder } from '../http/refusals.ts';
import { visibleRun } from '../routes/visible.ts';
import type { Services } from '../services.ts';
import { chosenProtocol, identify } from './credentials.ts';
import { RunHub } from './run-hub.ts';
import { RunSubscriber } from './run-subscriber.ts';
import { SocketGuard } from './socket-guard.ts';

const path = /^\/ws\/runs\/([^/]+)$/;
const maxSockets = 2000;
const maxIncomingBytes = 1024;
/** After the handshake, to say why it was no use (contract §3, "WebSocket"). */
const refusals = {
  unauthenticated: { close: 4401, status: 401, reason: 'sign in' },
  forbidden: { close: 4403, status: 403, reason: 'the role does not allow this' },
  not_found: { close: 4404, status: 404, reason: 'no such run' },
} as const;

interface Wanted {
  readonly runId: RunId | undefined;
  readonly fromSeq: number;
}

export class WebSockets {
  readonly #services: Services;
  readonly #refusals: RefusalRecorder;
  readonly #hub: RunHub;
  readonly #guard: SocketGuard;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxIncomingBytes,
    clientTracking: false,
    handleProtocols: chosenProtocol,
  });

  constructor(services: Services, recorder: RefusalRecorder) {
    this.#services = services;
    this.#refusals = recorder;
    this.#hub = new RunHub(services);
    this.#guard = new SocketGuard(services);
  }

  /** Takes the upgrades of a server. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const wanted = wantedOf(request.url ?? '');
      if (typeof wanted === 'string') turnAway(socket, wanted);
      else if (this.#guard.size >= maxSockets) turnAway(socket, '503 Service Unavailable');
      else {
        this.#server.handleUpgrade(request, socket, head, (opened) => {
          this.#open(opened, request, wanted).catch((error: unknown) => {
            this.#services.logger.error({ error }, 'a WebSocket failed');
            opened.close(1011);
          });
        });
      }
    });
  }

  /** Tells every client to come back; safe twice. */
  async close(): Promise<void> {
    await this.#hub.close();
    await this.#guard.close();
  }

  async #open(socket: WebSocket, request: IncomingMessage, wanted: Wanted): Promise<void> {
    socket.on('error', () => socket.terminate());
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
    const identity = await identify(request, offered, this.#services);
    if (identity === undefined) return this.#refuse(socket, request, 'unauthenticated', wanted);
    if (!mayAnywhere(identity.principal, 'runs.read')) {
      return this.#refuse(socket, request, 'forbidden', wanted, identity);
    }
    const { readModels, runLogs, logger } = this.#services;
    const run = wanted.runId && (await visibleRun(identity.principal, wanted.runId, readModels));
    if (run === undefined) return this.#refuse(socket, request, 'not_found', wanted, identity);
    if (socket.readyState !== socket.OPEN) return;
    const subscriber = new RunSubscriber(
      socket,
      { runId: run.run_id, fromSeq: wanted.fromSeq },
      runLogs,
      (error) => {
        logger.error({ error, run_id: run.run_id }, 'a log could not be sent');
        socket.close(1011);
      },
    );
    this.#guard.add({ socket, sessionId: identity.sessionId, groupId: run.group_id });
    socket.once('close', () => this.#hub.remove(subscriber));
    await this.#hub.add(subscriber, run);
  }

  #refuse(
    socket: WebSocket,
    request: IncomingMessage,
    code: keyof typeof refusals,
    { runId }: Wanted,
    identity?: Identity,
  ): void {
    const { close, status, reason } = refusals[code];
    socket.close(close, reason);
    this.#refusals.note({
      operation: 'GET /ws/runs/{run_id}',
      resource: runId === undefined ? null : `run-${runId}`,
      code,
      status,
      actor: actorOf(identity),
      ip: clientAddress(request, this.#services.trustedProxies),
      correlationId: traceIdOf(request),
    });
  }
}

/** What an address asks for, or the status line that turns it away. */
function wantedOf(url: string): Wanted | string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const name = path.exec(pathname)?.[1];
  if (name === undefined) return '404 Not Found';
  const fromSeq = searchParams.get('from_seq') ?? '1';
  if (!/^[1-9]\d{0,14}$/.test(fromSeq)) return '400 Bad Request';
  return { runId: parseRunId(name), fromSeq: Number(fromSeq) };
}

function turnAway(socket: Duplex, statusLine: string): void {
  socket.end(`HTTP/1.1 ${statusLine}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
