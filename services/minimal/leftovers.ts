/** Services whose supervisor was killed. They end automatically, and hold their ports until then. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 50;

/** Waits until no service is left that an earlier supervisor of this data folder has started. Runs get the time that
 *  they get at every end; what is left after `patienceMs` is killed. The caller holds the folder, so that none of
 *  them can belong to a supervisor that lives. */
export async function untilLeftoversEnd(
  dataDir: string,
  { patienceMs, say }: { readonly patienceMs: number; readonly say: (line: string) => void },
): Promise<void> {
  let left = leftovers(dataDir);
  if (left.length === 0) return;
  say(`Waiting for processes of the previous start to exit (${left.join(', ')})`);
  const deadline = performance.now() + patienceMs;
  let isKilled = false;
  while (left.length > 0) {
    if (performance.now() > deadline && !isKilled) {
      say(`Killing processes that did not exit (${left.join(', ')})`);
      for (const pid of left) kill(pid);
      isKilled = true;
    }
    await wait(POLL_MS);
    left = leftovers(dataDir);
  }
}

/** Those that have the environment of a service of this folder. */
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

/** The environment of a process; empty if it has ended or belongs to another user. */
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
