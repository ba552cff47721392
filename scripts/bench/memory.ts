import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { descendants, type Product } from '#services/minimal/testing/product.ts';

/** Longer than two garbage collection intervals of an idle process. */
const settleMs = 25_000;
const mebibyte = 1024;

const isPostgres = (command: string) => /postgres/.test(command.split('\0')[0] ?? '');

/** Measures the proportional set size of all processes once the product is idle.
 *  @param withPostgres whether to include Postgres */
export async function idleMemory(product: Product, withPostgres = false): Promise<string> {
  await pause(settleMs);
  const sizes = new Map<string, number>();
  for (const pid of [product.pid, ...(await descendants(product.pid))]) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command === '' || (isPostgres(command) && !withPostgres)) continue;
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    const kibibytes = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    const name = nameOf(command);
    sizes.set(name, (sizes.get(name) ?? 0) + kibibytes);
  }
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const detail = [...sizes].map(([name, size]) => `${name} ${Math.round(size / mebibyte)}`);
  return `${Math.round(total / mebibyte)} MB (${detail.join(', ')})`;
}

function nameOf(command: string): string {
  if (isPostgres(command)) return 'Postgres';
  if (command.includes('/workspaces/')) return 'keeper';
  if (command.includes('/launcher.py')) return 'launcher';
  return /(?:services|programs)\/(\w+)/.exec(command)?.[1] ?? command.split('\0')[0] ?? '?';
}
