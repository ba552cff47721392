/** The listening server, with limits for connections and for unauthenticated clients. */
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '#domain/ports/clock.ts';
import { maxConnections } from '#services/shared/connections/descriptors.ts';
import { listen, stopListening } from '#services/shared/listen.ts';
import type { Logger } from '#services/shared/logger.ts';
import { Connection, type ConnectionDeps } from './connection.ts';
import { newSession } from './session.ts';

export interface ServerOptions {
  readonly maxConnections: number;
  /** The maximum number of unauthenticated clients. When it is exceeded, the oldest unauthenticated client is
   *  disconnected. */
  readonly maxUnauthenticated: number;
  /** The time in which a client must sign in before it is disconnected. */
  readonly signInTimeoutMs: number;
}

export const defaultOptions: ServerOptions = {
  maxConnections: Math.min(1000, maxConnections()),
  maxUnauthenticated: 100,
  signInTimeoutMs: 10_000,
};

export interface ServerDeps extends Pick<ConnectionDeps, 'execute'> {
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RedisServer {
  readonly #deps: ServerDeps;
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #made = 0;

  constructor(deps: ServerDeps, options: ServerOptions = defaultOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  get connections(): ReadonlySet<Connection> {
    return this.#connections;
  }

  /** Starts listening. @returns the port @throws if the port is in use */
  async listen(port: number, host: string): Promise<number> {
    return await listen(this.#server, port, host);
  }

  /** Closes all connections, and resolves when their pending work is done. Calling it again has no effect. */
  async close(): Promise<void> {
    const connections = [...this.#connections];
    void stopListening(this.#server);
    for (const connection of connections) connection.close();
    await Promise.all(connections.map((connection) => connection.ended));
  }

  #accept(socket: Socket): void {
    const { maxConnections } = this.#options;
    if (this.#connections.size >= maxConnections && !this.#closeOldestUnauthenticated(1)) {
      socket.on('error', () => undefined);
      socket.end('-ERR max number of clients reached\r\n', () => socket.destroy());
      return;
    }
    const { logger, clock, execute } = this.#deps;
    this.#made += 1;
    const { remoteAddress = '', remotePort = 0 } = socket;
    const session = newSession(this.#made, remoteAddress, remotePort, clock.now());
    const connection = new Connection(socket, { session, execute, logger });
    this.#connections.add(connection);
    this.#closeOldestUnauthenticated(this.#options.maxUnauthenticated + 1);
    const timer = setTimeout(() => {
      if (session.credential === undefined) connection.close();
    }, this.#options.signInTimeoutMs);
    void connection.ended.then(() => {
      clearTimeout(timer);
      this.#connections.delete(connection);
    });
  }

  /** If the limit is reached, closes the connection that has been unauthenticated longest. */
  #closeOldestUnauthenticated(least: number): boolean {
    const unauthenticated = [...this.#connections].filter(
      (one) => one.session.credential === undefined,
    );
    if (unauthenticated.length < least) return false;
    unauthenticated[0]?.close();
    return true;
  }
}
