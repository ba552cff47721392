import type { Product } from '#services/minimal/testing/product.ts';
import { bareScript, timeBare } from './bare-python.ts';
import { timeFirstLine } from './complete-runs.ts';
import { idleMemory } from './memory.ts';
import { median, row } from './report.ts';
import { startModes, startRuns, type StartMode } from './start-modes.ts';

const rounds = 40;
const templateRounds = 10;

const scripts = [
  {
    name: 'an empty script',
    source: "print('first')\n",
    bars: { cold: '≤ 1.05', warm: '≤ 0.45' },
  },
  {
    name: 'a script with common imports',
    source:
      'import json, logging, urllib.request, asyncio, datetime, pathlib, re, subprocess\n' +
      "print('first')\n",
    bars: { cold: '≤ 1.05', warm: '≤ 0.12' },
  },
];
const templates = ['http-monitor', 'chat-bot', 'etl-job'];

/** Measures the time from the POST request for a run to its first log line at a WebSocket client. Compares it with
 *  `python3 main.py` without the product. */
export async function benchFirstLine(product: Product): Promise<void> {
  for (const script of scripts) {
    const scriptId = await product.script(script.name, { 'main.py': script.source });
    for (const mode of startModes) {
      await startRuns(product, scriptId, mode);
      await compareWithBare(product, scriptId, mode, script);
    }
  }
  for (const template of templates) await compareModes(product, template);
  row(
    'memory with keepers, all processes but Postgres (PSS)',
    await idleMemory(product),
    '≤ 300 MB',
  );
}

async function compareWithBare(
  product: Product,
  scriptId: string,
  mode: StartMode,
  { name, source, bars }: (typeof scripts)[number],
): Promise<void> {
  const folder = bareScript(source);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timeBare(folder));
    ours.push(await timeFirstLine(product, scriptId));
  }
  const ratio = median(ours.map((ms, round) => ms / (bare[round] ?? 1)));
  row(
    `POST → first log line / bare python, ${mode}, ${name}`,
    `${ratio.toFixed(2)} (${median(ours).toFixed(1)} ms / ${median(bare).toFixed(1)} ms)`,
    bars[mode],
  );
}

/** Compares the time to the first log line of a template's script between a warm interpreter and a cold start. */
async function compareModes(product: Product, template: string): Promise<void> {
  const medians = { cold: 0, warm: 0 };
  for (const mode of startModes) {
    const { id } = await product.call<{ id: string }>('POST', '/scripts', {
      name: `${template} ${mode}`,
      template,
    });
    await startRuns(product, id, mode);
    const times: number[] = [];
    for (let round = 0; round < templateRounds; round += 1) {
      times.push(await timeFirstLine(product, id));
    }
    medians[mode] = median(times);
  }
  const { cold, warm } = medians;
  row(
    `POST → first log line, warm / cold, template ${template}`,
    `${(warm / cold).toFixed(2)} (${warm.toFixed(1)} ms / ${cold.toFixed(1)} ms)`,
    '–',
  );
}
