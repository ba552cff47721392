/** Events of a run, in streams `run-<id>`. Permanent: never rename a type or change the meaning of a field. Logs,
 *  samples and parameters are stored separately. The events contain only totals and hashes. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { EnvironmentVariables } from '#domain/script/environment.ts';
import type { RunLimits } from '#domain/script/settings.ts';
import type { ApprovalRequest } from '#domain/kernel/approval.ts';
import type { ErrorFact } from './error/error.ts';
import type { Failure, RunTiming, RunTotals, Trigger } from './run.ts';

export type RunQueued = DomainEvent<
  'RunQueued',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly scriptName: string;
    readonly groupId: GroupId;
    /** The script version whose files the run executes, even if the script changes later. */
    readonly scriptVersion: number;
    readonly entrypoint: string;
    readonly limits: RunLimits;
    readonly trigger: Trigger;
    /** SHA-256 of the parameters as JSON. The parameters are stored separately. */
    readonly paramsSha256: string | null;
    readonly attempt: number;
    readonly parentRunId: RunId | null;
    /** The environment variables that are set in the script's settings. Absent if there are none. */
    readonly environment?: EnvironmentVariables;
    /** The required Python version, such as `3.12`. Absent for the runtime's default. */
    readonly python?: string;
    /** Absent if a warm interpreter may execute the run. */
    readonly startMode?: 'cold' | 'resident';
    /** The TCP ports that the run may listen on. Absent if there are none. */
    readonly listenPorts?: readonly number[];
    /** The labels that a runtime must have to execute the run. Absent if there are none. */
    readonly runsOn?: readonly string[];
    /** The pools in which the run occupies a slot. Absent if there are none. */
    readonly pools?: readonly string[];
    /** Identifies which resolution of the requirements the run uses. Absent for the first resolution. */
    readonly resolution?: string;
    /** The commit that the script version comes from. Absent if the script comes from no repository. */
    readonly commit?: { readonly hash: string; readonly url: string | null };
    /** The run cannot start until it is released. Absent if the run may start immediately. */
    readonly waiting?: true;
    /** RFC 3339. The run is not released before this time. Absent if there is no such time. */
    readonly notBefore?: string;
  }
>;

/** The run requires an approval from a second user. Recorded together with `RunQueued`. */
export type RunApprovalRequested = DomainEvent<
  'RunApprovalRequested',
  ApprovalRequest & {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly scriptName: string;
    readonly groupId: GroupId;
    readonly scriptVersion: number;
  }
>;

type OfRun = { readonly runId: RunId; readonly scriptId: ScriptId };

/** A user approved the run. The run now waits for a free slot. */
export type RunApproved = DomainEvent<'RunApproved', OfRun>;

/** A user rejected the run. `RunFinished` follows immediately. */
export type RunRejected = DomainEvent<'RunRejected', OfRun>;

/** The approval request expired without a decision. `RunFinished` follows immediately. */
export type RunApprovalExpired = DomainEvent<'RunApprovalExpired', OfRun>;

/** The run ended before a decision, for example because it was stopped. `RunFinished` follows immediately. */
export type RunApprovalWithdrawn = DomainEvent<'RunApprovalWithdrawn', OfRun>;

export type RunApprovalEvent =
  | RunApprovalRequested
  | RunApproved
  | RunRejected
  | RunApprovalExpired
  | RunApprovalWithdrawn;

/** The run received a slot of its script and may start. */
export type RunReleased = DomainEvent<
  'RunReleased',
  { readonly runId: RunId; readonly scriptId: ScriptId }
>;

/** A runtime is about to start the process of the run. */
export type RunStarted = DomainEvent<
  'RunStarted',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly runtimeId: string;
    /** The active sandbox layers. */
    readonly layers: readonly string[];
    readonly timing?: RunTiming;
  }
>;

export type RunStopRequested = DomainEvent<
  'RunStopRequested',
  { readonly runId: RunId; readonly scriptId: ScriptId }
>;

export type RunFinished = DomainEvent<
  'RunFinished',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly outcome: 'success' | 'stopped' | Failure;
    readonly exitCode: number | null;
    /** Name of the signal that ended the process, such as `SIGKILL`. */
    readonly signal: string | null;
    readonly totals: RunTotals;
    /** The error of the run. The details are stored separately. Absent if there was no error or if the error is
     *  unknown. */
    readonly error?: ErrorFact;
    readonly timing?: RunTiming;
  }
>;

export type RunEvent =
  | RunQueued
  | RunApprovalEvent
  | RunReleased
  | RunStarted
  | RunStopRequested
  | RunFinished;
