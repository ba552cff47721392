import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorFact } from './error/error.ts';
import type { RunFinished, RunQueued } from './events.ts';
import type { Failure, RunTotals, Trigger, WhenBusy } from './run.ts';

/** What a run executes, as an earlier run of the script did. */
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
>;

export interface RunScript {
  readonly type: 'RunScript';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly trigger: Trigger;
  readonly paramsSha256: string | null;
  /** Overrides the script's wall-clock limit for this run. */
  readonly timeoutSeconds: number | null;
  /** Default: `refuse`. */
  readonly whenBusy?: WhenBusy;
  /** Refused while another run of the same schedule is active. */
  readonly unlessOverlapping?: true;
  /** Left out, the run executes the script as it is now. */
  readonly plan?: RunPlan;
  /** Default: 1. */
  readonly attempt?: number;
  /** The run that this one is a further attempt of. */
  readonly parentRunId?: RunId;
  /** RFC 3339; the run waits at least until then. */
  readonly notBefore?: string;
}

/** Lets a waiting run have a slot of its script, if there is one. */
export interface ReleaseRun {
  readonly type: 'ReleaseRun';
  readonly runId: RunId;
  readonly scriptId: ScriptId;
}

/** Asked by the runtime that holds the lease, just before it lets the process go. */
export interface StartRun {
  readonly type: 'StartRun';
  readonly runId: RunId;
  readonly runtimeId: string;
  readonly layers: readonly string[];
}

export interface StopRun {
  readonly type: 'StopRun';
  readonly runId: RunId;
}

/** The report of the runtime that started the run, or of whoever found it lost. */
export interface FinishRun {
  readonly type: 'FinishRun';
  readonly runId: RunId;
  /** Stream version at the start; another one is a report of a runtime that lost its run. */
  readonly fence: number;
  readonly outcome: RunFinished['data']['outcome'];
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly totals: RunTotals;
  /** What went wrong; the error itself is kept apart. Absent: nothing did, or nobody saw it. */
  readonly error?: ErrorFact;
}

/** Ends a run whose process never started. */
export interface AbandonRun {
  readonly type: 'AbandonRun';
  readonly runId: RunId;
  readonly failure: Extract<Failure, 'environment_error' | 'sandbox_error' | 'expired'>;
  readonly totals: RunTotals;
  readonly error?: ErrorFact;
}

export type RunCommand = RunScript | ReleaseRun | StartRun | StopRun | FinishRun | AbandonRun;
