/** Maps a process's exit to its run's outcome (contract §3, "Run"). Pure. */
import type { FinishRun } from '#domain/run/commands.ts';
import { noTotals, type RunTotals } from '#domain/run/run.ts';
import type { LogTotals } from './logs/log-writer.ts';
import type { RunExit } from './sandbox/sandbox.ts';

export type Ending = Pick<FinishRun, 'outcome' | 'exitCode' | 'signal'>;

/** Returns a run's outcome.
 *  @param shuttingDown whether the run was stopped because the runtime is stopping */
export function endingOf(exit: RunExit, shuttingDown: boolean): Ending {
  switch (exit.kind) {
    case 'failed':
      return { outcome: 'sandbox_error', exitCode: null, signal: null };
    case 'lost':
      return { outcome: 'runtime_lost', exitCode: null, signal: null };
    case 'exited':
      return {
        outcome: outcomeOf(exit, shuttingDown),
        exitCode: exit.exitCode,
        signal: exit.signal,
      };
  }
}

function outcomeOf(
  exit: Extract<RunExit, { kind: 'exited' }>,
  shuttingDown: boolean,
): Ending['outcome'] {
  switch (exit.reason) {
    case 'stopped':
      return shuttingDown ? 'runtime_stopped' : 'stopped';
    case 'lease_lost':
      return 'runtime_lost';
    case 'timeout':
    case 'cpu_limit':
    case 'memory_limit':
      return exit.reason;
    case null:
      return exit.exitCode === 0 ? 'success' : 'exit_code';
  }
}

/** Returns the platform's message about the exit for the run's log, or undefined for a normal exit. */
export function endingNote(exit: RunExit, shuttingDown: boolean): string | undefined {
  switch (exit.kind) {
    case 'failed':
      return sandboxFailure(exit);
    case 'lost':
      return `The run was lost: ${exit.message}`;
    case 'exited':
      if (shuttingDown && exit.reason === 'stopped')
        return 'The runtime was shut down during the run.';
      return exit.detail ?? undefined;
  }
}

/** Returns the totals of a run.
 *  @param durationMs from the start of the process to its exit, on a monotonic clock */
export function totalsOf(log: LogTotals, exit?: RunExit, durationMs?: number): RunTotals {
  return {
    ...noTotals,
    logLines: log.lines,
    logBytes: log.bytes,
    logTruncated: log.truncated,
    ...(durationMs !== undefined && { durationMs }),
    ...(exit?.kind === 'exited' && {
      cpuSeconds: exit.usage.cpuSeconds,
      maxMemoryBytes: exit.usage.maxMemoryBytes,
      maxThreads: exit.usage.maxThreads,
    }),
  };
}

/** Returns the log message for a sandbox that failed before it executed anything. */
export function sandboxFailure({ stage, message }: { stage: string; message: string }): string {
  return `The sandbox failed (${stage}): ${message}`;
}

/** Returns the log message for a failed preparation. The message describes the file problem without host paths. */
export function unpreparedDetail(error: unknown): string {
  const [, problem] = /^(E[A-Z0-9]+: [^,]+),/.exec(String((error as Error).message)) ?? [];
  return problem === undefined
    ? 'The run could not be prepared. See the log of the runtime.'
    : `The run could not be prepared: a script file or package cannot be used (${problem}). See the log of the runtime for the path.`;
}
