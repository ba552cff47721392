/** Finds out before anything is started which ports are taken. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from './config.ts';
import type { ServiceDefinition } from './services.ts';
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
