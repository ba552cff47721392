/** Shows the log of a run on the terminal. */
import { headlineOf } from '#domain/run/error/error.ts';
import { part } from '#services/shared/api-client.ts';
import type { LogItem, RunAnswer } from '../answers.ts';
import type { Use } from '../command.ts';
import { exitCodes } from '../problem.ts';
import type { Session } from '../session.ts';
import { plainLines } from '../table.ts';

/** Follows a run to its end.
 *  @returns the script's exit code */
export async function followToEnd(
  runId: string,
  session: Session,
  { terminal, signal, options }: Use,
  fromSeq = 1,
): Promise<number> {
  try {
    // Loaded on demand, because no other command needs WebSockets.
    const { followRun } = await import('../follow-run.ts');
    await followRun({
      session,
      runId,
      fromSeq,
      signal,
      onBreak: () => terminal.problem('Disconnected. Reconnecting.'),
      onItems: async (items) => {
        for (const item of items) showItem(item, terminal, options.json);
        await terminal.drained();
      },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    terminal.problem(
      `The run continues. Follow it: orchestrator logs -f ${runId}. Stop it: orchestrator stop ${runId}`,
    );
    return exitCodes.interrupted;
  }
  const { body: run } = await session.api.call<RunAnswer>('GET', `/runs/${part(runId)}`);
  const code = exitCodeOf(run);
  if (code !== 0) terminal.problem(plainLines(outcomeOf(run)));
  return code;
}

export function showItem(
  item: LogItem,
  terminal: Pick<Use['terminal'], 'line' | 'problem'>,
  asJson: boolean,
): void {
  if (asJson) terminal.line(JSON.stringify(item));
  else if (item.stream === 'stdout') terminal.line(item.text);
  else terminal.problem(item.text);
}

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
  SIGXCPU: 24,
};

/** The exit code after a finished run: the script's exit code, or else the code that a shell or `timeout` would
 *  return. */
export function exitCodeOf(run: RunAnswer): number {
  if (run.status === 'success') return exitCodes.done;
  if (run.failure_reason === 'timeout') return exitCodes.timeout;
  if (run.exit_code !== null && run.exit_code !== 0) return run.exit_code;
  const number = signalNumbers[run.signal ?? ''];
  return number === undefined ? exitCodes.failed : 128 + number;
}

/** Describes in one sentence how a run ended. */
export function outcomeOf(run: RunAnswer): string {
  const { run_id, status, failure_reason, exit_code, signal, error } = run;
  const reason = failure_reason === null ? '' : ` (${failure_reason})`;
  const code = exit_code === null ? '' : `, exit code ${exit_code}`;
  const killed = signal === null ? '' : `, ${signal}`;
  // Omits the exit code, which has already been printed.
  const headline = error === null || error.type === 'exit_code' ? undefined : headlineOf(error);
  const what = headline === undefined ? '.' : `: ${headline}`;
  return `Run ${run_id} ended: ${status}${reason}${code}${killed}${what}`;
}
