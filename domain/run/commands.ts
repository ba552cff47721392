import type { ApprovalRequest, Approver } from '#domain/kernel/approval.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorFact } from './error/error.ts';
import type { RunFinished, RunQueued } from './events.ts';
import type { Failure, RunTiming, RunTotals, Trigger, WhenBusy } from './run.ts';

/** The settings and files of an earlier run that the new run repeats. */
export type RunPlan = Pick<
  RunQueued['data'],
  | 'scriptVersion'
  | 'entrypoint'
  | 'limits'
  | 'environment'
  | 'python'
  | 'startMode'
  | 'listenPorts'
  | 'resolution'
  | 'commit'
>;

export interface RunScript {
  readonly type: 'RunScript';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly trigger: Trigger;
  readonly paramsSha256: string | null;
  /** Overrides the wall-clock limit of the script. */
  readonly timeoutSeconds: number | null;
  /** What happens if the script has no free slot. Default: `refuse`. */
  readonly whenBusy?: WhenBusy;
  /** Refuses the run while another run of the same schedule is active. */
  readonly unlessOverlapping?: true;
  /** If absent, the run executes the current version of the script. */
  readonly plan?: RunPlan;
  /** The attempt number. Default: 1. */
  readonly attempt?: number;
  /** The run that this run retries. Absent if this run is not a retry. */
  readonly parentRunId?: RunId;
  /** RFC 3339. The run does not start before this time. */
  readonly notBefore?: string;
  /** The approval request to record if the script is protected and the trigger is not exempt. If absent, a run that
   *  requires an approval is refused. */
  readonly approval?: ApprovalRequest;
}

/** Approves a run of a protected script. The run starts when the script has a free slot. */
export interface ApproveRun {
  readonly type: 'ApproveRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly approver: Approver;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

export interface RejectRun {
  readonly type: 'RejectRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly approver: Approver;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

/** Ends a run whose approval request has expired. */
export interface ExpireApproval {
  readonly type: 'ExpireApproval';
  readonly runId: RunId;
  /** The current time (RFC 3339, in UTC with milliseconds). */
  readonly at: string;
}

/** Assigns a free slot of its script to a waiting run. */
export interface ReleaseRun {
  readonly type: 'ReleaseRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  /** The pools of the run, as in `RunQueued`. If absent, the run uses no pools. */
  readonly pools?: readonly string[];
}

/** Sent by the runtime that holds the lease, just before the runtime starts the process. */
export interface StartRun {
  readonly type: 'StartRun';
  readonly runId: RunId;
  readonly runtimeId: string;
  readonly layers: readonly string[];
  readonly timing?: RunTiming;
}

export interface StopRun {
  readonly type: 'StopRun';
  readonly runId: RunId;
}

/** Ends a run. Sent by the runtime that started the run, or by the scheduler if that runtime is lost. */
export interface FinishRun {
  readonly type: 'FinishRun';
  readonly runId: RunId;
  /** The stream version at the start of the run. If the run was started with another version, this runtime has lost
   *  the run. */
  readonly fence: number;
  readonly outcome: RunFinished['data']['outcome'];
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly totals: RunTotals;
  /** The error of the run, whose JSON is the content of the command. Absent if there was no error or if the error is
   *  unknown. */
  readonly error?: ErrorFact;
  readonly timing?: RunTiming;
}

/** Ends a run whose process never started. */
export interface AbandonRun {
  readonly type: 'AbandonRun';
  readonly runId: RunId;
  readonly failure: Extract<Failure, 'environment_error' | 'sandbox_error' | 'expired'>;
  readonly totals: RunTotals;
  readonly error?: ErrorFact;
  readonly timing?: RunTiming;
}

export type RunCommand =
  | RunScript
  | ReleaseRun
  | ApproveRun
  | RejectRun
  | ExpireApproval
  | StartRun
  | StopRun
  | FinishRun
  | AbandonRun;
