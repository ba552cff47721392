/** Notification events and messages (contract §3, "Notification"). */
import type { RunFinished } from '#domain/run/events.ts';

/** The events that notification rules can select. */
export const notifiableEvents = [
  'failed',
  'failed_n_times',
  'recovered',
  'success',
  'stopped',
  'missed',
  'message',
  'alarm',
  'alarm_cleared',
  'error_first_seen',
  'error_tenth_seen',
  'error_reopened',
  'run_late',
  'script_stale',
  'run_too_long',
  'secret_rotation_due',
  'approval_requested',
  'repository_sync_failed',
] as const;
export type NotifiableEvent = (typeof notifiableEvents)[number];

/** Describes the outcome of a run in a sentence. */
export function describeOutcome({ outcome, exitCode, signal, error }: RunFinished['data']): string {
  switch (outcome) {
    case 'success':
      return 'The run succeeded.';
    case 'stopped':
      return 'The run was stopped.';
    case 'exit_code':
      if (error && error.source !== 'platform') {
        return `The run failed with ${error.type} (exit code ${exitCode}).`;
      }
      if (signal !== null) return `The run was terminated by ${signal}.`;
      // A queue client may report a failure without an exit code.
      return exitCode === null ? 'The run failed.' : `The run failed with exit code ${exitCode}.`;
    case 'timeout':
      return 'The run failed: it exceeded its time limit.';
    case 'cpu_limit':
      return 'The run failed: it exceeded its CPU time limit.';
    case 'memory_limit':
      return 'The run failed: it exceeded its memory limit.';
    case 'environment_error':
      return 'The run failed: its Python environment could not be built.';
    case 'sandbox_error':
      return 'The run failed: its sandbox could not be set up.';
    case 'runtime_lost':
      return 'The run failed: its runtime was lost.';
    case 'runtime_stopped':
      return 'The run failed: its runtime was shut down.';
    case 'expired':
      return 'The run failed: it exceeded its queue time limit.';
  }
}
