import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Product } from '#services/minimal/testing/product.ts';
import { median, row } from './report.ts';

const clients = 64;
const rounds = 5;
const requestsPerRound = 1_500;
const echoEntry = fileURLToPath(new URL('echo-server.ts', import.meta.url));

/** Run requests per second of 64 clients, beside an echo through the same HTTP code and one through the
 *  bare library. Nothing executes the runs meanwhile: what is measured is their admission. */
export async function benchRequests(): Promise<void> {
  const product = await Product.start({ variables: { ORCH_RUNTIME_SLOTS: '0' } });
  const echo = spawn(process.execPath, [echoEntry], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(echo.stdout, 'data')) as [Buffer];
    const origin = `http://127.0.0.1:${port.toString().trim()}`;
    const scripts = await Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        const id = await product.script(`client ${index}`, {});
        await product.call('PATCH', `/scripts/${id}`, { max_concurrent_runs: 1000 });
        return id;
      }),
    );
    const runs = (client: number) =>
      `${product.baseUrl}/api/v1/runs/scripts/${scripts[client]}/run`;
    const rates = { ours: [] as number[], same: [] as number[], bare: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      rates.same.push(await perSecond(() => `${origin}/api/v1/echo`, {}));
      rates.ours.push(await perSecond(runs, product.authorization));
      rates.bare.push(await perSecond(() => `${origin}/bare`, {}));
      // What waits now would be counted by every later admission.
      for (const id of scripts) await product.call('POST', `/runs/scripts/${id}/stop`);
    }
    // The first round warms up.
    for (const [name, bar, echoed] of [
      ['an echo POST on the same server', '≥ 0.7', rates.same],
      ['an echo POST of the bare library', '–', rates.bare],
    ] as const) {
      const ratio = median(rates.ours.map((rate, round) => rate / (echoed[round] ?? 1)).slice(1));
      row(
        `POST run per second, ${clients} clients / ${name}`,
        `${ratio.toFixed(2)} (${median(rates.ours).toFixed(0)}/s / ${median(echoed).toFixed(0)}/s)`,
        bar,
      );
    }
  } finally {
    echo.kill();
    await product.stop();
    await product.remove();
  }
}

async function perSecond(
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
  if (answer.statusCode !== 202) throw new Error(`${url} answered ${answer.statusCode}`);
}
