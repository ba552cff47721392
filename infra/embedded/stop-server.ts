/** Stops a server, in particular if the process that started it has ended. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;
const FAST_STOP_MS = 15_000;
const IMMEDIATE_STOP_MS = 5_000;

/** Stops a server that still runs on `data`, or removes the pid file of a server that has exited.
 *  @returns the stopped process, if there was one */
export async function stopLeftover(data: string): Promise<number | undefined> {
  const file = join(data, 'postmaster.pid');
  const pid = readPid(file);
  if (pid === undefined || !isServerOf(pid, data)) {
    // Another program may have the process ID by now, and the server would then refuse to start.
    rmSync(file, { force: true });
    return undefined;
  }
  await stopServer(pid, () => isServerOf(pid, data));
  return pid;
}

/** Stops a server: first fast (ends sessions, writes a checkpoint), then immediate, then by SIGKILL. */
export async function stopServer(pid: number, isAlive: () => boolean): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline) {
      if (!isAlive()) return;
      await wait(POLL_MS);
    }
  }
  throw new Error(`the database server (process ${pid}) did not exit after SIGKILL`);
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Other programs may reuse a process ID, but do not have the data folder among their arguments. */
function isServerOf(pid: number, data: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return args[0]?.endsWith('postgres') === true && args.includes(data);
  } catch {
    return false;
  }
}
