/** The run queue on Postgres. Leases are timed by the database's clock, the same for all runtimes. */
import { known, parseRunId, parseScriptId, type GroupId, type RunId } from '#domain/kernel/ids.ts';
import type {
  ClaimedRun,
  LostRun,
  RenewedLease,
  RunQueue,
  WaitingRun,
} from '#domain/ports/run-queue.ts';
import { heldTriggers } from '#domain/run/run.ts';
import type { EnvironmentVariables } from '#domain/script/environment.ts';
import { defaultSettings, type RunLimits, type StartMode } from '#domain/script/settings.ts';
import type { Queryable } from './database.ts';

/** @param among narrows the runs of `run_queue` further */
const claim = (among: string): string => `WITH next AS (
      SELECT run_id FROM run_queue
      WHERE fence IS NULL AND NOT waiting AND available_at <= now()
        AND (lease_until IS NULL OR lease_until < now())${among}
      ORDER BY priority DESC, available_at, run_id
      LIMIT $2 FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE run_queue q SET owner = $1, lease_until = now() + make_interval(secs => $3)
      -- Found by their keys, however many wait: a join would be planned for a tenth of the queue.
      WHERE q.run_id = ANY(ARRAY(SELECT run_id FROM next))
      RETURNING q.*)
    SELECT q.run_id, q.script_id, q.attempt, r.script_version, r.entrypoint, r.limits,
      coalesce(s.storage_quota_bytes, $4) AS storage_quota_bytes,
      r.environment, r.python, r.start_mode, r.resolution,
      r.trigger_type, r.params_sha256, r.trigger ->> 'payloadSha256' AS payload_sha256,
      EXISTS (SELECT FROM secrets WHERE secrets.script_id = q.script_id AND sealed IS NOT NULL) AS has_secrets,
      e.metadata->>'correlationId' AS correlation_id, e.metadata->>'commandId' AS command_id,
      r.queued_at, r.script_name
    FROM claimed q JOIN runs r ON r.run_id = q.run_id
      -- What is leased is told: a run whose script cannot be found is to end by saying so.
      LEFT JOIN scripts s ON s.script_id = q.script_id
      JOIN events e ON e.stream_id = 'run-' || q.run_id AND e.version = 1
    ORDER BY q.priority DESC, q.available_at, q.run_id`;

const statements = {
  claim: claim(''),
  claimOfGroups: claim(` AND EXISTS (SELECT FROM runs own
        WHERE own.run_id = run_queue.run_id AND own.group_id = ANY($5::uuid[]))`),
  renew: `UPDATE run_queue SET lease_until = now() + make_interval(secs => $3)
    WHERE owner = $1 AND run_id = ANY($2::uuid[]) AND lease_until > now()
    RETURNING run_id, stop_requested`,
  release: `UPDATE run_queue SET owner = NULL, lease_until = NULL
    WHERE owner = $1 AND run_id = ANY($2::uuid[]) AND fence IS NULL`,
  lost: `SELECT q.run_id, r.script_name, q.fence, coalesce(log.lines, 0) AS log_lines,
      coalesce(log.bytes, 0) AS log_bytes
    FROM run_queue q JOIN runs r ON r.run_id = q.run_id LEFT JOIN LATERAL (
      SELECT max(last_seq) AS lines, sum(bytes) AS bytes FROM run_log_chunks c
      WHERE c.run_id = q.run_id) log ON true
    WHERE q.fence IS NOT NULL AND (q.lease_until IS NULL OR q.lease_until < now())
    ORDER BY q.run_id LIMIT $1`,
  releasable: `SELECT q.run_id, q.script_id FROM (
      SELECT w.run_id, w.script_id, w.available_at,
        row_number() OVER (PARTITION BY w.script_id ORDER BY w.available_at, w.run_id) AS place
      FROM run_queue w JOIN runs r ON r.run_id = w.run_id
      WHERE w.waiting AND w.available_at <= now()
        AND NOT (r.trigger_type = ANY ('{${heldTriggers.join(',')}}')
          AND EXISTS (SELECT FROM trigger_state WHERE paused))
        -- Runs of a schedule have ids in the order of their due times.
        AND NOT (r.trigger ->> 'afterPrevious' IS NOT NULL AND EXISTS (
          SELECT FROM run_queue e JOIN runs p ON p.run_id = e.run_id
          WHERE e.script_id = w.script_id AND e.run_id < w.run_id
            AND p.trigger ->> 'scheduleId' = r.trigger ->> 'scheduleId'))
    ) q JOIN scripts s ON s.script_id = q.script_id AND s.enabled AND NOT s.deleted
    WHERE q.place <= s.max_concurrent_runs - (SELECT count(*) FROM run_queue a
      WHERE a.script_id = q.script_id AND NOT a.waiting)
    ORDER BY q.available_at, q.run_id LIMIT $1`,
  expired: `SELECT run_id FROM run_queue
    WHERE fence IS NULL AND expires_at <= now() AND (lease_until IS NULL OR lease_until < now())
    ORDER BY expires_at, run_id LIMIT $1`,
};

interface ClaimRow {
  readonly run_id: string;
  readonly script_id: string;
  readonly attempt: number;
  readonly script_version: number;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  readonly storage_quota_bytes: number;
  readonly environment: EnvironmentVariables;
  readonly python: string | null;
  readonly start_mode: StartMode;
  readonly resolution: string | null;
  readonly trigger_type: string;
  readonly params_sha256: string | null;
  readonly payload_sha256: string | null;
  readonly has_secrets: boolean;
  readonly correlation_id: string;
  readonly command_id: string;
  readonly queued_at: Date;
  readonly script_name: string;
}

interface LostRow {
  readonly run_id: string;
  readonly script_name: string;
  readonly fence: number;
  readonly log_lines: number;
  readonly log_bytes: number;
}

export class PostgresRunQueue implements RunQueue {
  readonly #db: Queryable;

  constructor(db: Queryable) {
    this.#db = db;
  }

  async claim(
    owner: string,
    limit: number,
    leaseSeconds: number,
    groupIds?: readonly GroupId[],
  ): Promise<readonly ClaimedRun[]> {
    const { storageQuotaBytes } = defaultSettings;
    const values = [owner, limit, leaseSeconds, storageQuotaBytes];
    const { rows } =
      groupIds === undefined
        ? await this.#db.query<ClaimRow>(statements.claim, values)
        : await this.#db.query<ClaimRow>(statements.claimOfGroups, [...values, groupIds]);
    return rows.map((row) => ({
      runId: known(parseRunId, row.run_id),
      scriptId: known(parseScriptId, row.script_id),
      scriptVersion: row.script_version,
      entrypoint: row.entrypoint,
      limits: row.limits,
      storageQuotaBytes: row.storage_quota_bytes,
      environment: row.environment,
      python: row.python,
      startMode: row.start_mode,
      resolution: row.resolution,
      triggerType: row.trigger_type,
      paramsSha256: row.params_sha256,
      payloadSha256: row.payload_sha256,
      hasSecrets: row.has_secrets,
      attempt: row.attempt,
      correlationId: row.correlation_id,
      commandId: row.command_id,
      queuedAt: row.queued_at,
      scriptName: row.script_name,
    }));
  }

  async renew(
    owner: string,
    runIds: readonly RunId[],
    leaseSeconds: number,
  ): Promise<readonly RenewedLease[]> {
    const { rows } = await this.#db.query<{ run_id: string; stop_requested: boolean }>(
      statements.renew,
      [owner, runIds, leaseSeconds],
    );
    return rows.map((row) => ({
      runId: known(parseRunId, row.run_id),
      stopRequested: row.stop_requested,
    }));
  }

  async release(owner: string, runIds: readonly RunId[]): Promise<void> {
    await this.#db.query(statements.release, [owner, runIds]);
  }

  async lost(limit: number): Promise<readonly LostRun[]> {
    const { rows } = await this.#db.query<LostRow>(statements.lost, [limit]);
    return rows.map((row) => ({
      runId: known(parseRunId, row.run_id),
      scriptName: row.script_name,
      fence: row.fence,
      logLines: row.log_lines,
      logBytes: row.log_bytes,
    }));
  }

  async releasable(limit: number): Promise<readonly WaitingRun[]> {
    const { rows } = await this.#db.query<{ run_id: string; script_id: string }>(
      statements.releasable,
      [limit],
    );
    return rows.map((row) => ({
      runId: known(parseRunId, row.run_id),
      scriptId: known(parseScriptId, row.script_id),
    }));
  }

  async expired(limit: number): Promise<readonly RunId[]> {
    const { rows } = await this.#db.query<{ run_id: string }>(statements.expired, [limit]);
    return rows.map((row) => known(parseRunId, row.run_id));
  }
}
