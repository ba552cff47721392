/** Finds services whose supervisor was killed. These services exit on their own, but keep their ports until then. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 50;

/**
 * Waits until all services that an earlier supervisor of this data folder started have exited. Runs get the usual grace
 * period. Processes that remain after `timeoutMs` are killed. The caller holds the folder's lock, so none of the
 * services can belong to a live supervisor.
 */
export async function untilLeftoversEnd(
  dataDir: string,
  { timeoutMs, say }: { readonly timeoutMs: number; readonly say: (line: string) => void },
): Promise<void> {
  let left = leftovers(dataDir);
  if (left.length === 0) return;
  say(`Waiting for processes of the previous start to exit (${left.join(', ')})`);
  const deadline = performance.now() + timeoutMs;
  let isKilled = false;
  while (left.length > 0) {
    if (performance.now() > deadline && !isKilled) {
      say(`Killing processes that did not exit (${left.join(', ')})`);
      for (const pid of left) kill(pid);
      isKilled = true;
    }
    await wait(POLL_MS);
    left = [...new Set([...leftovers(dataDir), ...left.filter(isExiting)])];
  }
}

/** Finds processes whose environment identifies them as services of this folder. */
function leftovers(dataDir: string): readonly number[] {
  const wanted = ['ORCH_SUPERVISED=true', `ORCH_DATA_DIR=${dataDir}`];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      const variables = environmentOf(name);
      return wanted.every((variable) => variables.includes(variable));
    })
    .map(Number);
}

/** Whether a process has released its memory, and thus its environment, but may still have open ports. The kernel closes
 *  the ports later. */
function isExiting(pid: number): boolean {
  try {
    if (readFileSync(`/proc/${pid}/environ`, 'latin1') !== '') return false;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const isZombie = 'ZX'.includes(stat[stat.lastIndexOf(')') + 2] ?? '');
    // The main thread may have exited before other threads.
    return !isZombie || readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

/** Returns a process's environment. The result is empty if the process has exited or belongs to another user. */
function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
