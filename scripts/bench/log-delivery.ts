import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Product } from '#services/minimal/testing/product.ts';
import { bareScript, interpreter } from './bare-python.ts';
import { compare } from './compare.ts';

const subscribers = 100;
const lines = 40_000;
const singleLines = 2_000;
const rounds = 5;

type Entry = ChildProcessByStdio<null, Readable, null>;

/** Returns the script that both sides execute. It waits until all followers have subscribed, then prints at full
 *  speed. */
function script(count: number): string {
  return `import time
time.sleep(3)
print("begin")
for number in range(${count}):
    print("2026-01-01 12:00:00 INFO worker handled request", number, "in 12 ms")
print("the end")
`;
}

/** Delivers the lines of a run to many followers through the sandbox, the store and the bus. The comparison is a server
 *  that sends each line of a plain process to each follower as a separate message. */
export async function benchLogDelivery(product: Product): Promise<void> {
  const scriptId = await product.script('many lines', { 'main.py': script(lines) });
  const folder = bareScript(script(singleLines));
  await compare({
    figure: `log lines/s to ${subscribers} subscribers / one ws.send per line`,
    bar: '≥ 30',
    unit: '/s',
    rounds,
    ours: async () => {
      const { run_id: runId } = await product.run(scriptId);
      const url = `${product.baseUrl.replace('http', 'ws')}/ws/runs/${runId}`;
      const token = product.authorization.authorization.replace('Bearer ', '');
      const rate = await rateOf(clients(url, ['orch.v1', `orch.bearer.${token}`]), lines);
      await product.untilFinished(runId);
      return rate;
    },
    theirs: async () => {
      const server = entry(new URL('line-server.ts', import.meta.url), [interpreter, folder]);
      const port = await firstLineOf(server);
      const rate = await rateOf(clients(`ws://127.0.0.1:${port}`, []), singleLines);
      server.kill();
      return rate;
    },
  });
}

function clients(url: string, protocols: readonly string[]): Entry {
  return entry(new URL('log-clients.ts', import.meta.url), [
    String(subscribers),
    url,
    ...protocols,
  ]);
}

/** The clients report the time from the first line at any client to the last line at all clients. */
async function rateOf(followers: Entry, count: number): Promise<number> {
  return (count * 1000) / Number(await firstLineOf(followers));
}

async function firstLineOf(process: Entry): Promise<string> {
  const [line] = (await once(createInterface(process.stdout), 'line')) as [string];
  return line;
}

function entry(file: URL, args: readonly string[]): Entry {
  return spawn(process.execPath, [fileURLToPath(file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
