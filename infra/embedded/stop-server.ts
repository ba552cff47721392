/** Stops a server, usually one whose parent process has exited. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;
const FAST_STOP_MS = 15_000;
const IMMEDIATE_STOP_MS = 5_000;

/** Stops a server that still uses `data`, or removes the pid file if the server has exited.
 *  @returns the ID of the stopped process, or undefined if no server was running */
export async function stopLeftover(data: string): Promise<number | undefined> {
  const file = join(data, 'postmaster.pid');
  const pid = readPid(file);
  if (pid === undefined || !isServerOf(pid, data)) {
    // A new server would refuse to start if another program has reused the process ID.
    rmSync(file, { force: true });
    return undefined;
  }
  await stopServer(pid, () => isServerOf(pid, data));
  return pid;
}

/** Stops a server. Tries a fast shutdown first (ends sessions, writes a checkpoint), then an immediate shutdown, then
 *  SIGKILL. */
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

/** Other programs may have reused the process ID, but their arguments do not contain the data folder. */
function isServerOf(pid: number, data: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return args[0]?.endsWith('postgres') === true && args.includes(data);
  } catch {
    return false;
  }
}
