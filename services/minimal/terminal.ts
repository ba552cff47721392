/** The supervisor's process as its user sees it: lines, Ctrl-C, and an exit code. */
import type { Supervisor } from './supervisor.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Starts a supervisor and ends this process with it: the first signal stops it, the second one
 *  hurries. The exit code is 0 after a signal, 1 when it did not start. */
export async function runInTerminal(
  start: (say: (line: string) => void, signal: AbortSignal) => Promise<Supervisor>,
): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  process.stdout.on('error', () => undefined); // a terminal that was closed
  const asked = new AbortController();
  let supervisor: Supervisor | undefined;
  for (const name of STOP_SIGNALS) {
    process.on(name, () => {
      if (asked.signal.aborted) return supervisor?.hurry();
      say('Stopping; once more to hurry');
      asked.abort();
    });
  }
  try {
    supervisor = await start(say, asked.signal);
    await untilAborted(asked.signal);
    await supervisor.stop();
    say('Stopped');
  } catch (error) {
    if (!asked.signal.aborted) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    }
  }
  process.exit(0);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
