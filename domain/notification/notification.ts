/** The types of notifications (contract §3, "Notification"). */
import type { RunFinished } from '#domain/run/events.ts';

/** The events that a user can be notified about. */
export const happenings = [
  'failed',
  'failed_n_times',
  'recovered',
  'success',
  'stopped',
  'missed',
  'message',
  'alarm',
  'alarm_cleared',
] as const;
export type Happening = (typeof happenings)[number];

/** The outcome of a run, as a sentence. */
export function endingOf({ outcome, exitCode, signal, error }: RunFinished['data']): string {
  switch (outcome) {
    case 'success':
      return 'The run has succeeded.';
    case 'stopped':
      return 'The run was stopped.';
    case 'exit_code':
      if (error && error.source !== 'platform') {
        return `The run failed with ${error.type} (exit code ${exitCode}).`;
      }
      return signal === null
        ? `The run failed with exit code ${exitCode}.`
        : `The run was ended by ${signal}.`;
    case 'timeout':
      return 'The run failed: it took longer than it may.';
    case 'cpu_limit':
      return 'The run failed: it used more CPU time than it may.';
    case 'memory_limit':
      return 'The run failed: it used more memory than it may.';
    case 'environment_error':
      return 'The run failed: its environment could not be built.';
    case 'sandbox_error':
      return 'The run failed: its sandbox could not be made.';
    case 'runtime_lost':
      return 'The run failed: its runtime is gone.';
    case 'expired':
      return 'The run failed: it waited too long in the queue.';
  }
}
