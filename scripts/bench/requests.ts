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

/** Run requests per second of 64 clients, beside an echo of the same HTTP library. Nothing executes
 *  the runs meanwhile: what is measured is their admission. */
export async function benchRequests(): Promise<void> {
  const product = await Product.start({ variables: { ORCH_RUNTIME_SLOTS: '0' } });
  const echo = spawn(process.execPath, [echoEntry], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(echo.stdout, 'data')) as [Buffer];
    const echoUrl = `http://127.0.0.1:${port.toString().trim()}/echo`;
    const runUrls = await Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        const id = await product.script(`client ${index}`, {});
        await product.call('PATCH', `/scripts/${id}`, { max_concurrent_runs: 1000 });
        return `${product.baseUrl}/api/v1/runs/scripts/${id}/run`;
      }),
    );
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await perSecond(() => echoUrl, {}));
      ours.push(await perSecond((client) => runUrls[client] ?? '', product.authorization));
    }
    const ratio = median(ours.map((rate, round) => rate / (bare[round] ?? 1)));
    row(
      `POST run per second, ${clients} clients / echo POST`,
      `${ratio.toFixed(2)} (${median(ours).toFixed(0)}/s / ${median(bare).toFixed(0)}/s)`,
      '≥ 0.7',
    );
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
