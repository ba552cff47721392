/** The queue of waiting and running runs, with their leases. Leases are not events. A lease prevents two runtimes
 *  from preparing the same run. The fence in the run's stream decides which runtime may start the run. */
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { EnvironmentVariables } from '#domain/script/environment.ts';
import type { ResidentSettings, RunLimits, StartMode } from '#domain/script/settings.ts';

/** A claimed run. */
export interface ClaimedRun {
  readonly runId: RunId;
  readonly scriptId: ScriptId;
  readonly scriptVersion: number;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  /** The current storage quota of the script. */
  readonly storageQuotaBytes: number;
  /** The environment variables that the script's author defined. */
  readonly environment: EnvironmentVariables;
  /** The required interpreter version; `null` for the runtime's default. */
  readonly python: string | null;
  readonly startMode: StartMode;
  /** The script's current settings. */
  readonly resident: ResidentSettings;
  /** The script's current setting. */
  readonly mergeStderr: boolean;
  readonly listenPorts: readonly number[];
  readonly resolution: string | null;
  readonly triggerType: string;
  readonly paramsSha256: string | null;
  /** The webhook request or upstream payload that started the run. */
  readonly payloadSha256: string | null;
  /** Whether the script currently has secrets. */
  readonly hasSecrets: boolean;
  readonly attempt: number;
  readonly correlationId: string;
  /** ID of the command that requested the run. */
  readonly commandId: string;
  readonly queuedAt: Date;
  /** Name of the script when the run was requested. */
  readonly scriptName: string;
}

/** The result of renewing a lease. */
export interface RenewedLease {
  readonly runId: RunId;
  readonly stopRequested: boolean;
}

/** A run in the queue. */
export interface QueuedRun {
  readonly runId: RunId;
  /** The correlation ID of the request for the run. */
  readonly correlationId: string;
}

/** A queued or started run that ends without a runtime. */
export interface UnfinishedRun extends QueuedRun {
  readonly scriptId: ScriptId;
}

/** A started run whose runtime no longer renews its lease. */
export interface LostRun extends UnfinishedRun {
  readonly scriptName: string;
  /** Version of the run's stream at its start. */
  readonly fence: number;
  /** Totals of the stored log. */
  readonly logLines: number;
  readonly logBytes: number;
}

export interface RunQueue {
  /** Leases at most `limit` waiting runs to a runtime: by priority, then alternating between groups, so that each
   *  group gets a share of the slots, then by time of acceptance. A run whose lease expired before its start is
   *  queued again.
   *  @param labels of the runtime; claims only runs whose required labels are among them. Default: none */
  claim(
    owner: string,
    limit: number,
    leaseSeconds: number,
    labels?: readonly string[],
  ): Promise<readonly ClaimedRun[]>;

  /** Claims for a queue client instead of a runtime: runs without labels, by priority, then by time of acceptance.
   *  @param groupIds only runs of these groups; absent: of all groups */
  claimInOrder(
    owner: string,
    limit: number,
    leaseSeconds: number,
    groupIds?: readonly GroupId[],
  ): Promise<readonly ClaimedRun[]>;

  /** Renews the leases of `owner` on `runIds`. The owner has lost the runs that are missing from the result. */
  renew(
    owner: string,
    runIds: readonly RunId[],
    leaseSeconds: number,
  ): Promise<readonly RenewedLease[]>;

  /** Releases runs that `owner` claimed and did not start.
   *  @param delaySeconds no runtime claims the runs for this long; the runs keep their positions in the queue.
   *  Default: 0 */
  release(owner: string, runIds: readonly RunId[], delaySeconds?: number): Promise<void>;

  /** Started runs whose lease has expired, at most `limit`. If the clock is set back, existing leases restart with
   *  their full length, so a lease outlives its owner by at most its length. */
  lost(limit: number): Promise<readonly LostRun[]>;

  /** Waiting runs that have exceeded their maximum wait and are not being prepared by a runtime, at most `limit`. */
  expired(limit: number): Promise<readonly UnfinishedRun[]>;
}
