/** Opens and closes the listening sockets of servers. */
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { readConfig } from './config.ts';
import { listenAddresses } from './local-address.ts';

/** The message with which the supervisor passes a connection to this process. */
export interface HandedConnection {
  /** The port to which the client connected. */
  readonly connectedTo: number;
}

/** The additional listeners on the other loopback address, each of which passes its connections to its server. */
const companions = new WeakMap<Server, Server>();

/** Listens on an address. For a loopback address, the server also listens on the other loopback address (see
 *  {@link listenAddresses}). If the process starts on demand (`ORCH_ON_DEMAND`), its supervisor listens on the port
 *  first and then passes on the accepted connections. Close the server with {@link stopListening}.
 *  @param port 0 selects a free port, on `host` only
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

/** Stops accepting connections. @returns a promise that resolves when the existing connections have closed */
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

/** Whether the machine lacks the address, such as an IPv6 address on a machine without IPv6.
 *  @param error an error from `listen` */
export function isNoAddress(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code));
}

async function accompany(
  server: Server,
  port: number,
  host: string,
  reusePort: boolean,
): Promise<void> {
  // The additional listener needs the same options as the server's own socket.
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
    // If the client has already disconnected, the message contains no socket.
    if (connectedTo === port && socket !== undefined) server.emit('connection', socket);
  });
  process.channel?.unref();
}
