import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import type { LogLine, Product } from '#services/minimal/testing/product.ts';
import { bareScript, timeBare } from './bare-python.ts';
import { median, row } from './report.ts';

const rounds = 40;

const scripts = [
  { name: 'an empty script', source: "print('first')\n" },
  {
    name: 'a script with common imports',
    source:
      'import json, logging, urllib.request, asyncio, datetime, pathlib, re, subprocess\n' +
      "print('first')\n",
  },
];

/** POST run → first log line at a WebSocket client, beside a bare `python3 main.py`. */
export async function benchFirstLine(product: Product): Promise<void> {
  for (const { name, source } of scripts) {
    const scriptId = await product.script(name, { 'main.py': source });
    const folder = bareScript(source);
    const ours: number[] = [];
    const bare: number[] = [];
    await timeFirstLine(product, scriptId);
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await timeBare(folder));
      ours.push(await timeFirstLine(product, scriptId));
    }
    const ratio = median(ours.map((ms, round) => ms / (bare[round] ?? 1)));
    row(
      `POST → first log line / bare python, cold, ${name}`,
      `${ratio.toFixed(2)} (${median(ours).toFixed(1)} ms / ${median(bare).toFixed(1)} ms)`,
      '≤ 1.05',
    );
  }
}

async function timeFirstLine(product: Product, scriptId: string): Promise<number> {
  const startedAt = performance.now();
  const { run_id: runId } = await product.run(scriptId);
  const socket = product.follow(runId);
  const elapsed = await new Promise<number>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as { type: string; items?: LogLine[] };
      if (frame.items?.some((line) => line.text === 'first') === true) {
        resolve(performance.now() - startedAt);
      }
    });
  });
  // The next round waits for this run to be over, so that it measures itself alone.
  await once(socket, 'close');
  return elapsed;
}
