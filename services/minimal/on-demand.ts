/** Starts a service at the first connection, so that an unused service uses no memory. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { isNoAddress } from '#services/shared/listen.ts';
import { listenAddresses } from '#services/shared/local-address.ts';
import type { ConnectableService, Service } from './service.ts';

export interface OnDemandOptions {
  readonly service: ConnectableService;
  readonly host: string;
  readonly ports: readonly number[];
  readonly say: (line: string) => void;
}

/**
 * The maximum number of clients that can wait for the service to start. When the limit is exceeded, the oldest waiting
 * client is disconnected.
 */
const maxCallers = 100;

interface Caller {
  readonly port: number;
  readonly socket: Socket;
}

/** Creates a service whose `start` only listens on its ports. The first connection starts the process. Clients wait
 *  until the process is up, and their connections are then passed to it. If the process does not start, the waiting
 *  clients are disconnected, and the next connection causes another attempt. */
export function createOnDemand({ service, host, ports, say }: OnDemandOptions): Service {
  const stopping = new AbortController();
  const callers: Caller[] = [];
  let doors: readonly Server[] = [];
  let starting: Promise<void> | undefined;

  const admit = (port: number, socket: Socket): void => {
    socket.on('error', () => undefined); // The client may disconnect while it waits.
    callers.push({ port, socket });
    if (callers.length > maxCallers) callers.shift()?.socket.destroy();
    starting ??= begin().finally(() => (starting = undefined));
  };

  const begin = async (): Promise<void> => {
    try {
      await service.start(stopping.signal);
      for (const door of doors) door.close();
      for (const { port, socket } of callers) service.hand(port, socket);
    } catch (error) {
      for (const { socket } of callers) socket.destroy();
      if (!stopping.signal.aborted && error instanceof Error) say(error.message);
    } finally {
      callers.length = 0;
    }
  };

  return {
    name: service.name,
    async start() {
      doors = ports.flatMap((port) =>
        listenAddresses(host).map((address) => {
          const door = createServer({ pauseOnConnect: true }, (socket) => admit(port, socket));
          return door.listen({ port, host: address, reusePort: true });
        }),
      );
      await Promise.all(doors.map(untilListening));
    },
    async stop(timeoutMs) {
      stopping.abort();
      for (const door of doors) door.close();
      await service.stop(timeoutMs);
      await starting;
    },
    kill() {
      stopping.abort();
      service.kill();
    },
  };
}

/** Ignores unavailable addresses, because a machine may lack IPv6. */
async function untilListening(door: Server): Promise<void> {
  try {
    await once(door, 'listening');
  } catch (error) {
    if (!isNoAddress(error)) throw error;
  }
}
