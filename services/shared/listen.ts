/** How a service's servers come by their connections. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { readConfig } from './config.ts';

/** What comes with a connection that the supervisor has accepted. */
export interface HandedConnection {
  /** Port that somebody connected to. */
  readonly connectedTo: number;
}

/** Listens. Where the process was started because somebody connected (`ORCH_ON_DEMAND`), its supervisor listens
 *  on the same port until this does, and hands over whom it has accepted.
 *  @param port 0 takes a free one
 *  @returns the port
 *  @throws Error when it is taken */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  const { onDemand } = readConfig(['onDemand']);
  server.listen({ port, host, reusePort: onDemand });
  await once(server, 'listening');
  if (onDemand) takeConnections(server, port);
  return (server.address() as AddressInfo).port;
}

function takeConnections(server: Server, port: number): void {
  process.on('message', ({ connectedTo }: HandedConnection, socket?: Socket) => {
    // Whoever went away meanwhile comes without a socket.
    if (connectedTo === port && socket !== undefined) server.emit('connection', socket);
  });
  process.channel?.unref();
}
