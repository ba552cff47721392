/** Runs a supervisor in a terminal: prints lines, handles Ctrl-C, and sets the exit code. */
import type { Supervisor } from './supervisor.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Starts a supervisor and waits until it has stopped. The first signal stops the supervisor, and the second kills it.
 *  If the supervisor does not start, this process exits with code 1. A parent process receives `ready` once everything
 *  is up. If the parent process exits, the supervisor stops.
 *  @param ended resolves when the supervisor must stop for another reason */
export async function runInTerminal(
  start: (say: (line: string) => void, signal: AbortSignal) => Promise<Supervisor>,
  ended: (signal: AbortSignal) => Promise<void> = untilAborted,
): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  process.stdout.on('error', () => undefined); // Ignores write errors, because the terminal may have been closed.
  const asked = new AbortController();
  let supervisor: Supervisor | undefined;
  for (const name of STOP_SIGNALS) {
    process.on(name, () => {
      if (asked.signal.aborted) return supervisor?.hurry();
      say('Stopping; press Ctrl-C again to stop immediately');
      asked.abort();
    });
  }
  process.on('disconnect', () => asked.abort());
  try {
    supervisor = await start(say, asked.signal);
    process.send?.('ready');
    await ended(asked.signal);
    await supervisor.stop();
    say('Stopped');
  } catch (error) {
    if (!asked.signal.aborted) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    }
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
