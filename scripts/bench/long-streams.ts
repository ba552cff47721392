import { performance } from 'node:perf_hooks';
import type { Product } from '#services/minimal/testing/product.ts';
import { median, row } from './report.ts';

const long = 10_000;
const short = 10;
const concurrency = 16;
const rounds = 200;

/** Measures the cost of a script with a long history, compared with a short one. Each command and each history query
 *  folds the script's stream. */
export async function benchLongStreams(product: Product): Promise<void> {
  const scripts = [await scriptOf(product, short), await scriptOf(product, long)] as const;
  const subjects: Readonly<Record<string, (script: Past) => Promise<unknown>>> = {
    'change a script': ({ id }) => change(product, id),
    'save a file': ({ id }) => save(product, id),
    'the script': ({ id }) => product.call('GET', `/scripts/${id}`),
    'its files': ({ id }) => product.call('GET', `/scripts/${id}/files`),
    'an earlier version of the script (?at=)': ({ id, middle }) =>
      product.call('GET', `/scripts/${id}?at=${middle}`),
    'earlier versions of its files (?at=)': ({ id, middle }) =>
      product.call('GET', `/scripts/${id}/files?at=${middle}`),
    'a page of its history': ({ id }) => product.call('GET', `/scripts/${id}/history`),
  };
  for (const [name, work] of Object.entries(subjects)) {
    const timesMs: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      timesMs[0].push(await timeMs(() => work(scripts[0])));
      timesMs[1].push(await timeMs(() => work(scripts[1])));
    }
    const [shortMs, longMs] = [median(timesMs[0]), median(timesMs[1])];
    row(
      `${name}: ${long} versions / ${short}`,
      `${(longMs / shortMs).toFixed(2)} (${longMs.toFixed(1)} ms / ${shortMs.toFixed(1)} ms)`,
      '≤ 2',
    );
  }
}

interface Past {
  readonly id: string;
  /** The position of the event in the middle of its stream. */
  readonly middle: number;
}

async function scriptOf(product: Product, versions: number): Promise<Past> {
  const id = await product.script(`${versions} versions`, {});
  const positions: number[] = [];
  const lane = async () => {
    while (positions.length < versions - 1) {
      positions.push(await (positions.length % 2 === 0 ? save : change)(product, id));
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, versions) }, lane));
  const inOrder = positions.toSorted((one, other) => one - other);
  return { id, middle: inOrder[versions >> 1] ?? 0 };
}

let changes = 0;

async function change(product: Product, id: string): Promise<number> {
  const description = `change ${(changes += 1)}`;
  return await positionOf(product.fetch('PATCH', `/scripts/${id}`, { description }));
}

async function save(product: Product, id: string): Promise<number> {
  const body = { content: `print(${(changes += 1)})\n`, encoding: 'utf-8' };
  return await positionOf(product.fetch('PUT', `/scripts/${id}/files/main.py`, body));
}

async function positionOf(asked: Promise<Response>): Promise<number> {
  const answer = await asked;
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`a change returned status ${answer.status}`);
  return Number(answer.headers.get('orch-position'));
}

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
