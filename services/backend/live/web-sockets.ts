/** Serves the API's WebSockets. Performs handshakes, and closes sockets whose owners have lost access. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Principal } from '#domain/kernel/actor.ts';
import type { Editor } from '#domain/ports/bus.ts';
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import { findScriptGroups } from '#projections/scripts/queries.ts';
import { plainResponse } from '#services/shared/connections/plain-response.ts';
import type { RefusalRecorder } from '#services/shared/refusals.ts';
import { WebSocketServer, type WebSocket } from 'ws';
import { isIn, visibleRun, visibleScript } from '../access/visibility.ts';
import type { Identity } from '../http/credentials/authentication.ts';
import { actorOf } from '../http/exchange.ts';
import { problemKinds } from '../http/problem.ts';
import { clientAddress, traceIdOf } from '../http/wire/client.ts';
import type { Services } from '../services.ts';
import { wantedOf, type Wanted } from './socket-path.ts';
import { chosenProtocol, identify } from './credentials.ts';
import { endings, type Ending } from './close-reasons.ts';
import { EditorHub, type EditorSubscriber } from './editor-hub.ts';
import { mayFollowAll } from './feed-frames.ts';
import { FeedHub, type FeedOptions } from './feed-hub.ts';
import { FeedSubscriber } from './feed-subscriber.ts';
import { LogFrames } from './log-frames.ts';
import { RunHub } from './run-hub.ts';
import { RunSubscriber } from './run-subscriber.ts';
import { SocketGuard } from './socket-guard.ts';

const maxSockets = 2000;
/** At most this share of all connections may be WebSockets. */
const shareOfConnections = 0.5;
const maxIncomingBytes = 1024;
/** A client with more unread bytes receives no frames about editors. */
const maxUnreadBytes = 64 * 1024;

type WantedRun = Extract<Wanted, { kind: 'run' }>;
type WantedEditors = Extract<Wanted, { kind: 'editors' }>;

export class WebSockets {
  readonly #services: Services;
  readonly #refusals: RefusalRecorder;
  readonly #frames: LogFrames;
  readonly #runs: RunHub;
  readonly #feed: FeedHub;
  readonly #editors: EditorHub;
  readonly #guard: SocketGuard;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxIncomingBytes,
    clientTracking: false,
    handleProtocols: chosenProtocol,
  });

  constructor(services: Services, recorder: RefusalRecorder, feed: FeedOptions) {
    this.#services = services;
    this.#refusals = recorder;
    this.#frames = new LogFrames(services.runLogs);
    this.#runs = new RunHub(services);
    this.#feed = new FeedHub(services, feed);
    this.#editors = new EditorHub({
      ...services,
      findGroups: (ids) => findScriptGroups(services.readModels, ids),
    });
    this.#guard = new SocketGuard(services);
  }

  /** Handles the upgrade requests of a server. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const wanted = wantedOf(request.url ?? '');
      if (typeof wanted === 'string') reject(socket, wanted);
      else if (this.#guard.size >= this.#maxSockets) socket.end(plainResponse(503));
      else {
        this.#server.handleUpgrade(request, socket, head, (opened) => {
          this.#open(opened, request, wanted).catch((error: unknown) => {
            this.#services.logger.error({ error }, 'WebSocket failed');
            opened.close(1011);
          });
        });
      }
    });
  }

  get #maxSockets(): number {
    return Math.min(maxSockets, this.#services.connections.limit * shareOfConnections);
  }

  /** Closes all sockets with a code that asks clients to reconnect. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#runs.close(), this.#feed.close(), this.#editors.close()]);
    await this.#guard.close();
  }

  async #open(socket: WebSocket, request: IncomingMessage, wanted: Wanted): Promise<void> {
    socket.on('error', () => socket.terminate());
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
    const identity = await identify(request, { offered, ticket: wanted.ticket }, this.#services);
    const ending =
      identity === undefined
        ? endings.unauthenticated
        : identity.mustSetUpFactor === true
          ? endings.factorMissing
          : wanted.kind === 'run'
            ? await this.#followRun(socket, identity, wanted)
            : wanted.kind === 'editors'
              ? await this.#followEditors(socket, identity, wanted)
              : this.#followAll(socket, identity);
    if (ending === undefined) this.#services.connections.keep(request.socket);
    else this.#refuse(socket, request, ending, wanted, identity);
  }

  async #followRun(
    socket: WebSocket,
    { principal, credential }: Identity,
    { runId, fromSeq }: WantedRun,
  ): Promise<Ending | undefined> {
    const { readModels, logger } = this.#services;
    if (!hasRightAnywhere(principal, 'runs.read')) return endings.forbidden;
    const run = runId && (await visibleRun(principal, runId, readModels));
    if (run === undefined) return endings.unknownRun;
    if (socket.readyState !== socket.OPEN) return undefined;
    const wanted = { runId: run.run_id, fromSeq };
    const subscriber = new RunSubscriber(socket, wanted, this.#frames, (error) => {
      logger.error({ error, run_id: run.run_id }, 'log could not be sent');
      socket.close(1011);
    });
    const lookAt = (owner: Principal): Ending | undefined => {
      if (!hasRightAnywhere(owner, 'runs.read')) return endings.forbidden;
      return isIn(owner, run.group_id) ? undefined : endings.unknownRun;
    };
    this.#guard.add({ socket, credential, lookAt });
    socket.once('close', () => this.#runs.remove(subscriber));
    await this.#runs.add(subscriber, run);
    return undefined;
  }

  async #followEditors(
    socket: WebSocket,
    { principal, credential }: Identity,
    { scriptId, path }: WantedEditors,
  ): Promise<Ending | undefined> {
    if (!hasRightAnywhere(principal, 'files.read')) return endings.forbidden;
    const script =
      scriptId && (await visibleScript(principal, scriptId, this.#services.readModels));
    if (scriptId === undefined || script === undefined) return endings.unknownScript;
    if (socket.readyState !== socket.OPEN) return undefined;
    const subscriber: EditorSubscriber = {
      file: { scriptId, path },
      editor: editorOf(principal),
      groupId: script.group_id,
      send: (frame) => {
        if (socket.bufferedAmount < maxUnreadBytes) socket.send(frame);
      },
    };
    const lookAt = (owner: Principal): Ending | undefined => {
      subscriber.editor = editorOf(owner);
      if (!hasRightAnywhere(owner, 'files.read')) return endings.forbidden;
      const { groupId } = subscriber;
      return groupId !== undefined && isIn(owner, groupId) ? undefined : endings.unknownScript;
    };
    this.#guard.add({ socket, credential, lookAt });
    socket.once('close', () => this.#editors.remove(subscriber));
    this.#editors.add(subscriber);
    return undefined;
  }

  #followAll(socket: WebSocket, { principal, credential }: Identity): Ending | undefined {
    if (!mayFollowAll(principal)) return endings.forbidden;
    if (socket.readyState !== socket.OPEN) return undefined;
    const subscriber = new FeedSubscriber(socket, credential, () => this.#feed.wake());
    const lookAt = (owner: Principal): Ending | undefined => {
      subscriber.ownedBy(owner);
      if (subscriber.isReady) this.#feed.wake();
      return mayFollowAll(owner) ? undefined : endings.forbidden;
    };
    this.#guard.add({ socket, credential, lookAt });
    socket.once('close', () => this.#feed.remove(subscriber));
    this.#feed.add(subscriber);
    return undefined;
  }

  #refuse(
    socket: WebSocket,
    request: IncomingMessage,
    { close, reason, code }: Ending,
    wanted: Wanted,
    identity?: Identity,
  ): void {
    socket.close(close, reason);
    this.#refusals.note({
      ...refusedOf(wanted),
      code,
      status: problemKinds[code].status,
      actor: actorOf(identity),
      ip: clientAddress(request, this.#services.trustedProxies),
      correlationId: traceIdOf(request),
    });
  }
}

/** The user as an editor; `undefined` if the user may not change files. */
function editorOf(principal: Principal): Editor | undefined {
  const { userId, name } = principal;
  return hasRightAnywhere(principal, 'scripts.write') ? { userId, name } : undefined;
}

/** Names the operation and the resource of a refused socket for the audit trail. */
function refusedOf(wanted: Wanted): {
  readonly operation: string;
  readonly resource: string | null;
} {
  if (wanted.kind === 'feed') return { operation: 'GET /ws', resource: null };
  if (wanted.kind === 'run') {
    const { runId } = wanted;
    const resource = runId === undefined ? null : `run-${runId}`;
    return { operation: 'GET /ws/runs/{run_id}', resource };
  }
  const { scriptId } = wanted;
  const resource = scriptId === undefined ? null : `script-${scriptId}`;
  return { operation: 'GET /ws/scripts/{script_id}/editors', resource };
}

function reject(socket: Duplex, statusLine: string): void {
  socket.end(`HTTP/1.1 ${statusLine}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
