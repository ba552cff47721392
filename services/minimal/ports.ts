/** Finds out before anything is started which ports are taken. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import type { PortSetting, ServiceDefinition } from './services.ts';
import { settings } from '#services/shared/settings.ts';

/** One line for each port that is taken: the port, the service and the setting. */
export async function takenPorts(
  services: readonly ServiceDefinition[],
  config: Config,
): Promise<readonly string[]> {
  const wanted = services.flatMap(({ name, ports }) => ports.map((setting) => ({ name, setting })));
  const lines = await Promise.all(
    wanted.map(async ({ name, setting }) => {
      const [port, { variable }] = [config[setting], settings[setting]];
      const code = await listenProblem(config.bind, port);
      if (code === undefined) return [];
      const problem = code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${code})`;
      return `Port ${port} on ${config.bind} for the ${name} ${problem}; set ${variable} to another.`;
    }),
  );
  return lines.flat();
}

/** Gives a free port to every service that may have any, where its own is taken; the others stay.
 *  @param say tells of each */
export async function moveTakenPorts(
  services: readonly ServiceDefinition[],
  config: Config,
  say: (line: string) => void,
): Promise<Config> {
  const moved: Partial<Record<PortSetting, number>> = {};
  for (const { name, movable } of services) {
    if (movable === undefined) continue;
    const wanted = config[movable];
    if ((await listenProblem(config.bind, wanted)) !== 'EADDRINUSE') continue;
    const port = await freePort(config.bind);
    moved[movable] = port;
    const { variable } = settings[movable];
    say(
      `Port ${wanted} on ${config.bind} for the ${name} is taken, so it takes ${port}; set ${variable} to choose another.`,
    );
  }
  return { ...config, ...moved };
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** @returns the error's code */
async function listenProblem(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'error';
  } finally {
    server.close();
  }
}
