import type { ApprovalRequest, Approver } from '#domain/kernel/approval.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorFact } from './error/error.ts';
import type { RunFinished, RunQueued } from './events.ts';
import type { Failure, RunTiming, RunTotals, Trigger, WhenBusy } from './run.ts';

/** The settings and files of an earlier run, which the new run repeats. */
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
  /** Overrides the script's wall-clock limit for this run. */
  readonly timeoutSeconds: number | null;
  /** What to do if the script has no free slot. Default: `refuse`. */
  readonly whenBusy?: WhenBusy;
  /** Refused while another run of the same schedule is active. */
  readonly unlessOverlapping?: true;
  /** Absent: the run executes the current version of the script. */
  readonly plan?: RunPlan;
  /** The number of the attempt. Default: 1. */
  readonly attempt?: number;
  /** The run that this run retries. */
  readonly parentRunId?: RunId;
  /** RFC 3339; the run waits at least until this time. */
  readonly notBefore?: string;
  /** The request for an approval, recorded if the script is protected and the trigger is not exempt. Absent: a run that
   *  needs an approval is refused. */
  readonly approval?: ApprovalRequest;
}

/** Permits a run of a protected script. The run starts when there is a free slot. */
export interface ApproveRun {
  readonly type: 'ApproveRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly approver: Approver;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

export interface RejectRun {
  readonly type: 'RejectRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly approver: Approver;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** Ends a run whose approval has expired. */
export interface ExpireApproval {
  readonly type: 'ExpireApproval';
  readonly runId: RunId;
  /** The current time, RFC 3339, in UTC with milliseconds. */
  readonly at: string;
}

/** Assigns a free slot of the script to a waiting run. */
export interface ReleaseRun {
  readonly type: 'ReleaseRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  /** The pools of the run (`RunQueued`). Absent: none. */
  readonly pools?: readonly string[];
}

/** Sent by the runtime that holds the lease, just before it starts the process. */
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

/** The report of the runtime that started the run, or of the process that found the run lost. */
export interface FinishRun {
  readonly type: 'FinishRun';
  readonly runId: RunId;
  /** Stream version at the start. Another version means that the runtime has lost the run. */
  readonly fence: number;
  readonly outcome: RunFinished['data']['outcome'];
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly totals: RunTotals;
  /** The error; the content of the command is its JSON. Absent: no error, or none was observed. */
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
