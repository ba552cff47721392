/** The queue of waiting and running runs, with their leases. Leases are not recorded as events. A lease prevents two
 *  runtimes from preparing the same run. The fence in the run's stream decides which runtime may start the run. */
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
  /** The script's current storage quota. */
  readonly storageQuotaBytes: number;
  /** The environment variables that are set in the script's settings. */
  readonly environment: EnvironmentVariables;
  /** The required Python version. `null` selects the runtime's default version. */
  readonly python: string | null;
  readonly startMode: StartMode;
  /** The script's current settings for always-on runs. */
  readonly resident: ResidentSettings;
  /** The script's current setting. */
  readonly mergeStderr: boolean;
  readonly listenPorts: readonly number[];
  readonly resolution: string | null;
  readonly triggerType: string;
  readonly paramsSha256: string | null;
  /** SHA-256 of the webhook request or of the payload from the upstream run that started this run. */
  readonly payloadSha256: string | null;
  /** Whether the script currently has secrets. */
  readonly hasSecrets: boolean;
  readonly attempt: number;
  readonly correlationId: string;
  /** ID of the command that requested the run. */
  readonly commandId: string;
  readonly queuedAt: Date;
  /** The script's name when the run was requested. */
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
  /** The correlation ID of the request that created the run. */
  readonly correlationId: string;
}

/** A queued or started run that must be ended although no runtime holds it. */
export interface UnfinishedRun extends QueuedRun {
  readonly scriptId: ScriptId;
}

/** A started run whose runtime has stopped renewing the lease. */
export interface LostRun extends UnfinishedRun {
  readonly scriptName: string;
  /** The version of the run's stream when the run started. */
  readonly fence: number;
  /** The number of stored log lines. `logBytes` is their size. */
  readonly logLines: number;
  readonly logBytes: number;
}

export interface RunQueue {
  /** Claims at most `limit` queued runs for a runtime. Runs are ordered by priority, then alternate between groups
   *  so that each group gets a share of the slots, then by queue time. If a lease expires before the run starts, the
   *  run is queued again.
   *  @param labels the labels of the runtime. Only runs whose required labels are all among them are claimed.
   *  Default: none */
  claim(
    owner: string,
    limit: number,
    leaseSeconds: number,
    labels?: readonly string[],
  ): Promise<readonly ClaimedRun[]>;

  /** Claims runs for a queue client instead of a runtime. Only runs without required labels are claimed, ordered by
   *  priority, then by queue time.
   *  @param groupIds claims only runs of these groups. Default: all groups */
  claimInOrder(
    owner: string,
    limit: number,
    leaseSeconds: number,
    groupIds?: readonly GroupId[],
  ): Promise<readonly ClaimedRun[]>;

  /** Renews the leases that `owner` holds on `runIds`. If a run is missing from the result, `owner` no longer holds
   *  its lease. */
  renew(
    owner: string,
    runIds: readonly RunId[],
    leaseSeconds: number,
  ): Promise<readonly RenewedLease[]>;

  /** Releases runs that `owner` claimed but did not start.
   *  @param delaySeconds the time during which no runtime can claim the runs again. The runs keep their positions in
   *  the queue. Default: 0 */
  release(owner: string, runIds: readonly RunId[], delaySeconds?: number): Promise<void>;

  /** Returns at most `limit` started runs whose lease has expired. If the clock is set back, existing leases restart
   *  with their full duration. A lease therefore outlives its owner by no more than its duration. */
  lost(limit: number): Promise<readonly LostRun[]>;

  /** Returns at most `limit` waiting runs that have exceeded their maximum wait and that no runtime is preparing. */
  expired(limit: number): Promise<readonly UnfinishedRun[]>;
}
