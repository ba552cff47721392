/** Listening sockets of servers. */
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { readConfig } from './config.ts';
import { listenAddresses } from './local-address.ts';

/** The message with which the supervisor passes on a connection. */
export interface HandedConnection {
  /** The port that the client connected to. */
  readonly connectedTo: number;
}

/** For each server, the listener on the other loopback address. It passes its connections to the server. */
const companions = new WeakMap<Server, Server>();

/** Listens on the address and, if it is a loopback address, on the other one too (see {@link listenAddresses}). If a
 *  connection starts the process (`ORCH_ON_DEMAND`), its supervisor listens on the same port until this process does,
 *  and then passes on the connections that it has accepted. {@link stopListening} stops listening.
 *  @param port 0 uses a free port, on `host` only
 *  @returns the port
 *  @throws Error if the port is in use on either address */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  const { onDemand } = readConfig(['onDemand']);
  server.listen({ port, host, reusePort: onDemand });
  await once(server, 'listening');
  const other = listenAddresses(host)[1];
  if (port !== 0 && other !== undefined) await accompany(server, port, other, onDemand);
  if (onDemand) takeConnections(server, port);
  return (server.address() as AddressInfo).port;
}

/** Accepts no more connections.
 *  @returns a promise that resolves when the existing ones have ended */
export async function stopListening(server: Server): Promise<void> {
  const companion = companions.get(server);
  await Promise.all([close(server), companion && close(companion)]);
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  await closed;
}

/** Whether the machine lacks the address, such as an IPv6 address on a machine without IPv6. @param error of a
 *  `listen` */
export function isNoAddress(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code));
}

async function accompany(
  server: Server,
  port: number,
  host: string,
  reusePort: boolean,
): Promise<void> {
  // The same options as for the server's own sockets.
  const options = { allowHalfOpen: server instanceof HttpServer, noDelay: true };
  const companion = createServer(options, (socket) => void server.emit('connection', socket));
  companion.listen({ port, host, reusePort });
  try {
    await once(companion, 'listening');
    companions.set(server, companion);
  } catch (error) {
    if (isNoAddress(error)) return;
    server.close();
    throw error;
  }
}

function takeConnections(server: Server, port: number): void {
  process.on('message', ({ connectedTo }: HandedConnection, socket?: Socket) => {
    // A client that has disconnected in the meantime has no socket.
    if (connectedTo === port && socket !== undefined) server.emit('connection', socket);
  });
  process.channel?.unref();
}
