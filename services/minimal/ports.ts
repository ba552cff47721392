/** Finds configured ports that are already in use before the services start. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { isNoAddress } from '#services/shared/listen.ts';
import { listenAddresses } from '#services/shared/local-address.ts';
import type { Config } from './config.ts';
import type { PortSetting, ServiceDefinition } from './services.ts';
import { settings } from '#services/shared/settings.ts';

/** Returns one line for each port that is in use. The line names the port, the service and the setting. */
export async function takenPorts(
  services: readonly ServiceDefinition[],
  config: Config,
): Promise<readonly string[]> {
  const wanted = services.flatMap(({ name, ports }) => ports.map((setting) => ({ name, setting })));
  const lines = await Promise.all(
    wanted.map(async ({ name, setting }) => {
      const [port, { variable }] = [config[setting], settings[setting]];
      const found = await listenProblem(config.bind, port);
      if (found === undefined) return [];
      const problem =
        found.code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${found.code})`;
      return `Port ${port} on ${found.address} for the ${name} ${problem}. Set ${variable} to another port.`;
    }),
  );
  return lines.flat();
}

/** Assigns free ports to services whose own port is in use.
 *  @param say reports each change */
export async function moveTakenPorts(
  services: readonly ServiceDefinition[],
  config: Config,
  say: (line: string) => void,
): Promise<Config> {
  const moved: Partial<Record<PortSetting, number>> = {};
  for (const { name, movable } of services) {
    if (movable === undefined) continue;
    const wanted = config[movable];
    const found = await listenProblem(config.bind, wanted);
    if (found?.code !== 'EADDRINUSE') continue;
    const port = await freePort(config.bind);
    moved[movable] = port;
    const { variable } = settings[movable];
    say(
      `Port ${wanted} on ${found.address} for the ${name} is already in use; using port ${port} instead. ` +
        `Set ${variable} to choose another.`,
    );
  }
  return { ...config, ...moved };
}

/** Finds a port that is free on every listen address. */
async function freePort(bind: string): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, bind);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await once(server.close(), 'close');
    if ((await listenProblem(bind, port)) === undefined) return port;
  }
}

interface ListenProblem {
  readonly address: string;
  /** The error code. */
  readonly code: string;
}

async function listenProblem(bind: string, port: number): Promise<ListenProblem | undefined> {
  for (const address of listenAddresses(bind)) {
    const server = createServer();
    try {
      server.listen(port, address);
      await once(server, 'listening');
    } catch (error) {
      if (address !== bind && isNoAddress(error)) continue;
      return { address, code: (error as NodeJS.ErrnoException).code ?? 'error' };
    } finally {
      server.close();
    }
  }
  return undefined;
}
