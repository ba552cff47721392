/** Runs command lines in the process of a test, and servers that respond to them. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runLine } from '../program.ts';

interface Around {
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
}

/** Runs a command line and collects its output. */
export async function outputOf(line: string, { environment, folder }: Around) {
  const lines: string[] = [];
  const problems: string[] = [];
  const code = await runLine(line.split(' '), {
    terminal: {
      colors: false,
      line: (one) => lines.push(one),
      write: (bytes) => lines.push(Buffer.from(bytes).toString()),
      problem: (one) => problems.push(one),
      progress: () => undefined,
      drained: () => Promise.resolve(),
    },
    environment,
    folder,
    signal: new AbortController().signal,
    input: () => Promise.resolve('a token'),
  });
  return { code, out: lines.join('\n'), problem: problems.join('\n') };
}

/** Starts a server that sends the header that all responses of the platform have. */
export async function serving(handler: RequestListener) {
  const server = createServer((request, response) => {
    response.setHeader('X-Request-Id', '1');
    handler(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.asyncDispose]: async () => void (await once(server.close(), 'close')) };
}

/** The variables that name a server. */
export const variablesFor = (url: string) => ({
  ORCHESTRATOR_URL: url,
  ORCHESTRATOR_TOKEN: 'orch_x',
});
