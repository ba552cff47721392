/** The types of runs (contract §3, "Run"). */
import type { ChainId, RunId, ScheduleId, TokenId, WebhookId } from '#domain/kernel/ids.ts';
import type { FiredOutcome } from '#domain/schedule/schedule.ts';

export const failures = [
  'exit_code',
  'timeout',
  'cpu_limit',
  'memory_limit',
  'environment_error',
  'sandbox_error',
  'runtime_lost',
  // The runtime was shut down properly and reported the end of the run itself.
  'runtime_stopped',
  'expired',
] as const;
export type Failure = (typeof failures)[number];

export const runStatuses = ['queued', 'running', 'success', 'failed', 'stopped'] as const;
export type RunStatus = (typeof runStatuses)[number];

export const triggerTypes = [
  'manual',
  'api',
  'schedule',
  'webhook',
  'event',
  'retry',
  'rerun',
  'mcp',
  'queue',
] as const;
export type TriggerType = (typeof triggerTypes)[number];

/** Automatic triggers. While triggers are paused, runs with these triggers wait. */
export const heldTriggers: readonly TriggerType[] = ['schedule', 'webhook', 'event', 'retry'];

/** What started the run. The trigger of a retry or a rerun refers to the original run. */
export type Trigger =
  | {
      readonly type: Exclude<
        TriggerType,
        'api' | 'event' | 'retry' | 'rerun' | 'schedule' | 'webhook'
      >;
    }
  | {
      readonly type: 'schedule';
      readonly scheduleId: ScheduleId;
      /** In RFC 3339 format, in UTC with milliseconds. */
      readonly dueAt: string;
      readonly outcome: FiredOutcome;
      /** The run starts only after earlier runs of the schedule have ended. Absent if runs may overlap. */
      readonly afterPrevious?: true;
    }
  | { readonly type: 'api'; readonly tokenId: TokenId }
  | { readonly type: 'event'; readonly cause: 'keep_alive' }
  /** The run was requested by the script of another run. */
  | { readonly type: 'event'; readonly cause: 'script'; readonly runId: RunId }
  | ChainTrigger
  | {
      readonly type: 'webhook';
      readonly webhookId: WebhookId;
      /** SHA-256 of the payload, which consists of the headers and the body of the request. */
      readonly payloadSha256: string;
      /** The size of the request body in bytes. Absent if it was not recorded. */
      readonly sizeBytes?: number;
      /** The webhook delivery that a user requested to repeat. Absent if this delivery is not a repetition. */
      readonly redeliveryOf?: string;
    }
  | {
      readonly type: 'retry' | 'rerun';
      readonly runId: RunId;
      /** The run uses the same secret versions as the original run. */
      readonly exact?: true;
      /** SHA-256 of the webhook request that started the original run. */
      readonly payloadSha256?: string;
    };

/** The run was started by a chain, because a run of another script ended. */
export interface ChainTrigger {
  readonly type: 'event';
  readonly cause: 'chain';
  readonly chainId: ChainId;
  /** The upstream run, which has ended. */
  readonly runId: RunId;
  /** The number of runs in the sequence that led to this run, including this run. */
  readonly depth: number;
  /** SHA-256 of the payload from the upstream run. */
  readonly payloadSha256: string;
}

/** Whether a chain started the run. */
export function isChained(trigger: Trigger): trigger is ChainTrigger {
  return trigger.type === 'event' && trigger.cause === 'chain';
}

/** Returns the SHA-256 of the webhook request or upstream payload that started a run. The content is stored
 *  separately. */
export function payloadOf(trigger: Trigger): string | undefined {
  return 'payloadSha256' in trigger ? trigger.payloadSha256 : undefined;
}

/** What happens to a requested run if its script has reached the concurrency limit. */
export const busyChoices = ['refuse', 'queue'] as const;
export type WhenBusy = (typeof busyChoices)[number];

/** The maximum size of a run's parameters, as JSON in UTF-8. */
export const maxParamsBytes = 64 * 1024;

/** The totals of a finished run. All values are zero or null if the process never started. */
export interface RunTotals {
  /** The time between the start and the end of the process, measured with a monotonic clock. */
  readonly durationMs: number | null;
  readonly cpuSeconds: number | null;
  readonly maxMemoryBytes: number | null;
  readonly maxThreads: number | null;
  readonly logLines: number;
  readonly logBytes: number;
  readonly logTruncated: boolean;
}

/** The times at which a runtime completed its steps (RFC 3339). A time is absent if the runtime did not reach the
 *  step, or if an old release recorded the run. */
export interface RunTiming {
  /** When the runtime claimed the run. */
  readonly claimedAt?: string;
  /** When the environment and the files were ready. */
  readonly preparedAt?: string;
  /** When the process started to execute the script. */
  readonly startedAt?: string;
  /** When the last process of the run exited. */
  readonly exitedAt?: string;
}

export const noTotals: RunTotals = {
  durationMs: null,
  cpuSeconds: null,
  maxMemoryBytes: null,
  maxThreads: null,
  logLines: 0,
  logBytes: 0,
  logTruncated: false,
};

/** Returns the status that the API shows for an outcome. */
export function statusOf(outcome: 'success' | 'stopped' | Failure): RunStatus {
  return outcome === 'success' || outcome === 'stopped' ? outcome : 'failed';
}
