/** Starts a program that kills itself at a step (`infra/testing/kill-steps.ts`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

async function endOf(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<NodeJS.Signals | number | null> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal ?? code;
}

/** Runs the program until it kills itself at the step. @throws Error if the program did not reach the step */
export async function killedBefore(
  step: string,
  program: string,
  args: readonly string[],
): Promise<void> {
  const end = await endOf(program, args, { KILLED_BEFORE: step });
  if (end !== 'SIGKILL')
    throw new Error(`expected SIGKILL before "${step}", but the process ended with: ${end}`);
}

/** Runs the complete program. @returns the executed steps */
export async function stepsOf(
  program: string,
  args: readonly string[],
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-steps-'));
  try {
    const file = join(folder, 'steps');
    const end = await endOf(program, args, { STEPS_NOTED_IN: file });
    if (end !== 0) throw new Error(`it did not come to its end, but: ${end}`);
    return (await readFile(file, 'utf8')).trim().split('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}
