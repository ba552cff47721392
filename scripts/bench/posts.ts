/** Sends POST requests from many clients to an HTTP server, or to an echo server with the same HTTP code for
 *  comparison. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

export const clients = 64;
const requestsPerRound = 1_500;
const echoEntry = fileURLToPath(new URL('echo-server.ts', import.meta.url));

/** Starts an echo server, and passes its address to a callback. */
export async function withEcho(measure: (origin: string) => Promise<void>): Promise<void> {
  const echo = spawn(process.execPath, [echoEntry], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(echo.stdout, 'data')) as [Buffer];
    await measure(`http://127.0.0.1:${port.toString().trim()}`);
  } finally {
    echo.kill();
  }
}

/** Returns the number of responses per second. */
export async function postsPerSecond(
  urlOf: (client: number) => string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let left = requestsPerRound;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (left > 0) {
        left -= 1;
        await post(urlOf(client), headers, agent);
      }
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  agent.destroy();
  return (requestsPerRound * 1000) / elapsedMs;
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<void> {
  const call = request(url, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': '2' },
  });
  call.end('{}');
  const [answer] = (await once(call, 'response')) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 202) throw new Error(`${url} returned status ${answer.statusCode}`);
}
