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
  // The runtime shut down in an orderly way and reported the end of the run itself.
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

/** Automatic triggers. Their runs wait while triggers are paused. */
export const heldTriggers: readonly TriggerType[] = ['schedule', 'webhook', 'event', 'retry'];

/** What started the run. A retry and a rerun refer to the run that they repeat. */
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
      /** RFC 3339, in UTC with milliseconds. */
      readonly dueAt: string;
      readonly outcome: FiredOutcome;
      /** The run starts after the earlier runs of the schedule have ended. Absent: it may overlap. */
      readonly afterPrevious?: true;
    }
  | { readonly type: 'api'; readonly tokenId: TokenId }
  | { readonly type: 'event'; readonly cause: 'keep_alive' }
  /** A script requested the run from inside that run. */
  | { readonly type: 'event'; readonly cause: 'script'; readonly runId: RunId }
  | ChainTrigger
  | {
      readonly type: 'webhook';
      readonly webhookId: WebhookId;
      readonly payloadSha256: string;
      /** SHA-256 of the request body. Absent if it was not recorded. */
      readonly sizeBytes?: number;
      /** The webhook delivery that this delivery repeats, if a user requested the redelivery. */
      readonly redeliveryOf?: string;
    }
  | {
      readonly type: 'retry' | 'rerun';
      readonly runId: RunId;
      /** The run gets the same secret versions as the original run. */
      readonly exact?: true;
      /** The webhook request of the original run. */
      readonly payloadSha256?: string;
    };

/** A run of another script ended. */
export interface ChainTrigger {
  readonly type: 'event';
  readonly cause: 'chain';
  readonly chainId: ChainId;
  /** The upstream run. */
  readonly runId: RunId;
  /** The length of the sequence of runs that led to this run, including this run. */
  readonly depth: number;
  /** The payload of the upstream run. */
  readonly payloadSha256: string;
}

/** Whether a chain started the run. */
export function isChained(trigger: Trigger): trigger is ChainTrigger {
  return trigger.type === 'event' && trigger.cause === 'chain';
}

/** SHA-256 of a webhook request or an upstream payload, which is stored separately. */
export function payloadOf(trigger: Trigger): string | undefined {
  return 'payloadSha256' in trigger ? trigger.payloadSha256 : undefined;
}

/** What happens to a run that exceeds the concurrency limit of its script. */
export const busyChoices = ['refuse', 'queue'] as const;
export type WhenBusy = (typeof busyChoices)[number];

/** Largest size of a run's parameters as JSON in UTF-8. */
export const maxParamsBytes = 64 * 1024;

/** The totals of a finished run; zero if it never started. */
export interface RunTotals {
  /** From the start of the process to its end, on a monotonic clock. */
  readonly durationMs: number | null;
  readonly cpuSeconds: number | null;
  readonly maxMemoryBytes: number | null;
  readonly maxThreads: number | null;
  readonly logLines: number;
  readonly logBytes: number;
  readonly logTruncated: boolean;
}

/** Times of a runtime's steps, RFC 3339. Absent: the step was not reached, or an earlier version recorded the run. */
export interface RunTiming {
  /** The runtime has claimed the run. */
  readonly claimedAt?: string;
  /** The environment and the files are ready. */
  readonly preparedAt?: string;
  /** The process starts to execute the script. */
  readonly startedAt?: string;
  /** The last process has ended. */
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

/** The API status of an outcome. */
export function statusOf(outcome: 'success' | 'stopped' | Failure): RunStatus {
  return outcome === 'success' || outcome === 'stopped' ? outcome : 'failed';
}
