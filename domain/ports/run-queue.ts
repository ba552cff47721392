/** Who works on what: runs that wait or run, and the leases on them. A lease is no event; it keeps two
 *  runtimes from preparing the same run, while the fence in the run's stream decides who may start. */
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { EnvironmentVariables } from '#domain/script/environment.ts';
import type { RunLimits, StartMode } from '#domain/script/settings.ts';

/** A run that the caller may prepare now. */
export interface ClaimedRun {
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly scriptVersion: number;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  /** The script's of this moment. */
  readonly storageQuotaBytes: number;
  /** The author's variables. */
  readonly environment: EnvironmentVariables;
  /** The wanted interpreter; `null` for the runtime's own. */
  readonly python: string | null;
  readonly startMode: StartMode;
  readonly listenPorts: readonly number[];
  readonly resolution: string | null;
  readonly triggerType: string;
  readonly paramsSha256: string | null;
  /** What a webhook was called with. */
  readonly payloadSha256: string | null;
  /** Whether its script had any at this moment. */
  readonly hasSecrets: boolean;
  readonly attempt: number;
  readonly correlationId: string;
  /** Of the command that asked for it. */
  readonly commandId: string;
  readonly queuedAt: Date;
  /** As it was when the run was asked for. */
  readonly scriptName: string;
}

/** A lease as its renewal found it. */
export interface RenewedLease {
  readonly runId: RunId;
  readonly stopRequested: boolean;
}

/** A run that was started and whose runtime no longer renews its lease. */
export interface LostRun {
  readonly runId: RunId;
  readonly scriptName: string;
  /** Version of the run's stream at its start. */
  readonly fence: number;
  /** What is stored of its log. */
  readonly logLines: number;
  readonly logBytes: number;
}

export interface RunQueue {
  /** Leases at most `limit` waiting runs to `owner`, in the order of priority and acceptance. A
   *  run whose lease ended before it was started waits again.
   *  @param groupIds only runs of these groups; left out, of all */
  claim(
    owner: string,
    limit: number,
    leaseSeconds: number,
    groupIds?: readonly GroupId[],
  ): Promise<readonly ClaimedRun[]>;

  /** Extends the leases that `owner` still has on `runIds`; those that are not in the answer are
   *  no longer its own. */
  renew(
    owner: string,
    runIds: readonly RunId[],
    leaseSeconds: number,
  ): Promise<readonly RenewedLease[]>;

  /** Gives back runs that `owner` claimed and did not start.
   *  @param delaySeconds for so long no runtime claims them; their place in the queue stays. Default: 0 */
  release(owner: string, runIds: readonly RunId[], delaySeconds?: number): Promise<void>;

  /** Started runs whose lease has ended, at most `limit`. Leases that were granted before the clock was set back start
   *  again first, so that none outlives its owner by more than its own length. */
  lost(limit: number): Promise<readonly LostRun[]>;

  /** Runs that were not started within the time they may wait and that nobody prepares, at most
   *  `limit`. */
  expired(limit: number): Promise<readonly RunId[]>;
}
