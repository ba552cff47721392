import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { descendants, type Product } from '#services/minimal/testing/product.ts';

/** Longer than two garbage collection intervals of an idle process. */
const settleMs = 25_000;
const mebibyte = 1024;

/** Measures the proportional set size of all processes except Postgres once the product is idle. */
export async function idleMemory(product: Product): Promise<string> {
  await pause(settleMs);
  const parts: { name: string; kibibytes: number }[] = [];
  for (const pid of [product.pid, ...(await descendants(product.pid))]) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command === '' || /postgres/.test(command.split('\0')[0] ?? '')) continue;
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    const kibibytes = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    parts.push({ name: nameOf(command), kibibytes });
  }
  const total = parts.reduce((sum, part) => sum + part.kibibytes, 0);
  const detail = parts.map((part) => `${part.name} ${Math.round(part.kibibytes / mebibyte)}`);
  return `${Math.round(total / mebibyte)} MB (${detail.join(', ')})`;
}

function nameOf(command: string): string {
  if (command.includes('/workspaces/')) return 'keeper';
  return /(?:services|programs)\/(\w+)/.exec(command)?.[1] ?? command.split('\0')[0] ?? '?';
}
