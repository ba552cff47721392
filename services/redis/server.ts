/** The port: who may be connected, how many, and for how long without saying who they are. */
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '#domain/ports/clock.ts';
import { maxConnections } from '#services/shared/connections/descriptors.ts';
import { listen, stopListening } from '#services/shared/listen.ts';
import type { Logger } from '#services/shared/logger.ts';
import { Connection, type ConnectionParts } from './connection.ts';
import { newSession } from './session.ts';

export interface ServerOptions {
  readonly maxConnections: number;
  /** The limit of unauthenticated clients: the oldest is closed for the next. */
  readonly maxStrangers: number;
  /** A stranger that has not signed in after so long is cut off. */
  readonly strangerMs: number;
}

export const usualOptions: ServerOptions = {
  maxConnections: Math.min(1000, maxConnections()),
  maxStrangers: 100,
  strangerMs: 10_000,
};

export interface ServerParts extends Pick<ConnectionParts, 'execute'> {
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RedisServer {
  readonly #parts: ServerParts;
  readonly #options: ServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #made = 0;

  constructor(parts: ServerParts, options: ServerOptions = usualOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  get connections(): ReadonlySet<Connection> {
    return this.#connections;
  }

  /** Listens. @returns the port @throws if the port is in use */
  async listen(port: number, host: string): Promise<number> {
    return await listen(this.#server, port, host);
  }

  /** Cuts all connections; resolves when what they had under way is settled. Safe twice. */
  async close(): Promise<void> {
    const connections = [...this.#connections];
    void stopListening(this.#server);
    for (const connection of connections) connection.close();
    await Promise.all(connections.map((connection) => connection.ended));
  }

  #accept(socket: Socket): void {
    const { maxConnections } = this.#options;
    if (this.#connections.size >= maxConnections && !this.#closeOldestStranger(1)) {
      socket.on('error', () => undefined);
      socket.end('-ERR max number of clients reached\r\n', () => socket.destroy());
      return;
    }
    const { logger, clock, execute } = this.#parts;
    this.#made += 1;
    const { remoteAddress = '', remotePort = 0 } = socket;
    const session = newSession(this.#made, remoteAddress, remotePort, clock.now());
    const connection = new Connection(socket, { session, execute, logger });
    this.#connections.add(connection);
    this.#closeOldestStranger(this.#options.maxStrangers + 1);
    const patience = setTimeout(() => {
      if (session.credential === undefined) connection.close();
    }, this.#options.strangerMs);
    void connection.ended.then(() => {
      clearTimeout(patience);
      this.#connections.delete(connection);
    });
  }

  /** Closes the longest unauthenticated connection at the limit. */
  #closeOldestStranger(least: number): boolean {
    const strangers = [...this.#connections].filter((one) => one.session.credential === undefined);
    if (strangers.length < least) return false;
    strangers[0]?.close();
    return true;
  }
}
