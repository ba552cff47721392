/** The vocabulary of runs (contract §3, "Run"). */
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

/** What starts runs without anybody asking for it at that moment: held while triggers are paused. */
export const heldTriggers: readonly TriggerType[] = ['schedule', 'webhook', 'event', 'retry'];

/** What made the run. A retry and a rerun name the run that they repeat. */
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
      /** It starts no sooner than the runs before it of the schedule have ended. Absent: it may. */
      readonly afterPrevious?: true;
    }
  | { readonly type: 'api'; readonly tokenId: TokenId }
  | { readonly type: 'event'; readonly cause: 'keep_alive' }
  /** A script asked for it, in that run. */
  | { readonly type: 'event'; readonly cause: 'script'; readonly runId: RunId }
  | ChainTrigger
  | {
      readonly type: 'webhook';
      readonly webhookId: WebhookId;
      readonly payloadSha256: string;
      /** Of the body that it was called with. Absent where nobody noted it. */
      readonly sizeBytes?: number;
      /** The delivery that this one repeats, where somebody asked for that. */
      readonly redeliveryOf?: string;
    }
  | {
      readonly type: 'retry' | 'rerun';
      readonly runId: RunId;
      /** It is given secrets in the versions that the other run was given. */
      readonly exact?: true;
      /** As the run had it that is repeated. */
      readonly payloadSha256?: string;
    };

/** A run of another script has ended. */
export interface ChainTrigger {
  readonly type: 'event';
  readonly cause: 'chain';
  readonly chainId: ChainId;
  /** The run that has ended. */
  readonly runId: RunId;
  /** How many runs caused one another up to this one, from 1. */
  readonly depth: number;
  /** What that run hands over. */
  readonly payloadSha256: string;
}

/** Whether a chain made the run. */
export function isChained(trigger: Trigger): trigger is ChainTrigger {
  return trigger.type === 'event' && trigger.cause === 'chain';
}

/** SHA-256 of what a webhook was called with, or of what a run handed over, which is kept apart. */
export function payloadOf(trigger: Trigger): string | undefined {
  return 'payloadSha256' in trigger ? trigger.payloadSha256 : undefined;
}

/** What a run that meets the concurrency limit of its script is to do. */
export const busyChoices = ['refuse', 'queue'] as const;
export type WhenBusy = (typeof busyChoices)[number];

/** Largest size of a run's parameters as JSON in UTF-8. */
export const maxParamsBytes = 64 * 1024;

/** What a finished run amounted to; zero where it never started. */
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

export const noTotals: RunTotals = {
  durationMs: null,
  cpuSeconds: null,
  maxMemoryBytes: null,
  maxThreads: null,
  logLines: 0,
  logBytes: 0,
  logTruncated: false,
};

/** The status that an outcome means on the wire. */
export function statusOf(outcome: 'success' | 'stopped' | Failure): RunStatus {
  return outcome === 'success' || outcome === 'stopped' ? outcome : 'failed';
}
