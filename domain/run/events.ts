/** Facts of a run, in streams `run-<id>`. Stored for good: a type is never renamed and a field never
 *  changes its meaning. Logs, samples and parameters are not here, only totals and hashes. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { EnvironmentVariables } from '#domain/script/environment.ts';
import type { RunLimits } from '#domain/script/settings.ts';
import type { ErrorFact } from './error/error.ts';
import type { Failure, RunTotals, Trigger } from './run.ts';

export type RunQueued = DomainEvent<
  'RunQueued',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly scriptName: string;
    readonly groupId: GroupId;
    /** The run executes exactly the files of this version, whatever is saved meanwhile. */
    readonly scriptVersion: number;
    readonly entrypoint: string;
    readonly limits: RunLimits;
    readonly trigger: Trigger;
    /** SHA-256 of the parameters' JSON, which is kept apart. */
    readonly paramsSha256: string | null;
    readonly attempt: number;
    readonly parentRunId: RunId | null;
    /** The author's variables. Absent: none. */
    readonly environment?: EnvironmentVariables;
    /** The wanted interpreter, such as `3.12`. Absent: the runtime's own. */
    readonly python?: string;
    /** Absent: a kept interpreter may execute it. */
    readonly startMode?: 'cold';
    /** TCP ports that it may listen on. Absent: none. */
    readonly listenPorts?: readonly number[];
    /** Names the resolution of the requirements. Absent: the first. */
    readonly resolution?: string;
    /** It starts no sooner than it is released. Absent: it may start at once. */
    readonly waiting?: true;
    /** RFC 3339; it is released no sooner than then. Absent: at once. */
    readonly notBefore?: string;
  }
>;

/** A slot of the script is the run's now: it may start. */
export type RunReleased = DomainEvent<
  'RunReleased',
  { readonly runId: RunId; readonly scriptId: ScriptId }
>;

/** The process is about to be let go. */
export type RunStarted = DomainEvent<
  'RunStarted',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly runtimeId: string;
    /** Sandbox layers that were in force. */
    readonly layers: readonly string[];
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
    /** What went wrong; the error itself is kept apart. Absent: nothing did, or nobody saw it. */
    readonly error?: ErrorFact;
  }
>;

export type RunEvent = RunQueued | RunReleased | RunStarted | RunStopRequested | RunFinished;
