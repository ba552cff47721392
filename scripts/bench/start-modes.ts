import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { descendants, type Product } from '#services/minimal/testing/product.ts';

export const startModes = ['cold', 'warm'] as const;
export type StartMode = (typeof startModes)[number];

const pollMs = 50;

/** Sets the start mode of the script. With `warm`, resolves when the script's interpreter is ready. */
export async function startRuns(
  product: Product,
  scriptId: string,
  mode: StartMode | 'resident',
): Promise<void> {
  await product.call('PATCH', `/scripts/${scriptId}`, { start_mode: mode });
  const { run_id: runId } = await product.run(scriptId);
  await product.untilFinished(runId);
  while (mode === 'warm' && !(await isKept(product, scriptId))) await pause(pollMs);
}

async function isKept(product: Product, scriptId: string): Promise<boolean> {
  for (const pid of await descendants(product.pid)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(`/workspaces/${scriptId}/`)) return true;
  }
  return false;
}
