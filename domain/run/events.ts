/** Events of a run, in streams `run-<id>`. Permanent: never rename a type or change the meaning of a field. Logs,
 *  samples and parameters are stored separately; events have only totals and hashes. */
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
    /** The run executes exactly the files of this version, even if the script changes. */
    readonly scriptVersion: number;
    readonly entrypoint: string;
    readonly limits: RunLimits;
    readonly trigger: Trigger;
    /** SHA-256 of the parameters' JSON, which is stored separately. */
    readonly paramsSha256: string | null;
    readonly attempt: number;
    readonly parentRunId: RunId | null;
    /** The environment variables that the script's author defined. Absent: none. */
    readonly environment?: EnvironmentVariables;
    /** The required interpreter, such as `3.12`. Absent: the runtime's default. */
    readonly python?: string;
    /** Absent: a warm interpreter may execute the run. */
    readonly startMode?: 'cold' | 'resident';
    /** TCP ports that the run may listen on. Absent: none. */
    readonly listenPorts?: readonly number[];
    /** Labels that a runtime must have to execute the run. Absent: none. */
    readonly runsOn?: readonly string[];
    /** Pools in which the run occupies a slot. Absent: none. */
    readonly pools?: readonly string[];
    /** Identifies one resolution of the requirements. Absent: the first resolution. */
    readonly resolution?: string;
    /** The commit of the script's version. Absent: the script came from no repository. */
    readonly commit?: { readonly hash: string; readonly url: string | null };
    /** The run must be released before it starts. Absent: it may start immediately. */
    readonly waiting?: true;
    /** RFC 3339; the run is not released before this time. Absent: immediately. */
    readonly notBefore?: string;
  }
>;

/** A second person must approve the run. Recorded together with `RunQueued`. */
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

/** The actor approved the run, which now waits for a free slot. */
export type RunApproved = DomainEvent<'RunApproved', OfRun>;

/** The actor rejected the run. `RunFinished` follows immediately. */
export type RunRejected = DomainEvent<'RunRejected', OfRun>;

/** The request expired without a decision. `RunFinished` follows immediately. */
export type RunApprovalExpired = DomainEvent<'RunApprovalExpired', OfRun>;

/** The run ended before a decision, for example because it was stopped. `RunFinished` follows immediately. */
export type RunApprovalWithdrawn = DomainEvent<'RunApprovalWithdrawn', OfRun>;

export type RunApprovalEvent =
  | RunApprovalRequested
  | RunApproved
  | RunRejected
  | RunApprovalExpired
  | RunApprovalWithdrawn;

/** The run has a slot of the script and may start. */
export type RunReleased = DomainEvent<
  'RunReleased',
  { readonly runId: RunId; readonly scriptId: ScriptId }
>;

/** The process is about to start. */
export type RunStarted = DomainEvent<
  'RunStarted',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly runtimeId: string;
    /** Active sandbox layers. */
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
    /** Name of the signal that killed the process, such as `SIGKILL`. */
    readonly signal: string | null;
    readonly totals: RunTotals;
    /** The error; its details are stored separately. Absent: no error, or none was observed. */
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
