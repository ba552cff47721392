/** The run queue on Postgres. Leases use the database clock, so all runtimes share one clock. */
import type { Recorded } from '#domain/aggregates.ts';
import {
  mustParse,
  parseRunId,
  parseScriptId,
  type GroupId,
  type RunId,
} from '#domain/kernel/ids.ts';
import type {
  ClaimedRun,
  LostRun,
  RenewedLease,
  RunQueue,
  UnfinishedRun,
} from '#domain/ports/run-queue.ts';
import type { RunQueued } from '#domain/run/events.ts';
import { payloadOf } from '#domain/run/run.ts';
import { defaultSettings, type ResidentSettings } from '#domain/script/settings.ts';
import type { KnownStreams } from '../commands/known-streams.ts';
import type { Queryable } from '../database.ts';
import { recorded, type EventRow } from '../event-store/event-store.ts';
import { correlationIdOf } from './correlation.ts';

/** Claims runs. The commit does not wait for the disk. If a crash loses a lease, the run has not started, because the
 *  start is written to the WAL after the lease. A renewal waits for the disk, because a running process depends on its
 *  lease.
 *  @param next a query that selects and locks the runs */
const claim = (next: string): string => `WITH next AS (
      ${next}
    ), claimed AS (
      UPDATE run_queue q SET owner = $1, leased_at = now(),
        lease_until = now() + make_interval(secs => $3)
      FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unhurried
      -- Found by key, regardless of the number of waiting runs: a join would be planned for a tenth of the queue.
      WHERE q.run_id = ANY(ARRAY(SELECT run_id FROM next))
      RETURNING q.*)
    SELECT e.*, q.script_id, q.stream_version,
      coalesce(s.storage_quota_bytes, $4) AS storage_quota_bytes, s.resident, s.merge_stderr,
      EXISTS (SELECT FROM secrets WHERE secrets.script_id = q.script_id AND sealed IS NOT NULL)
        OR EXISTS (SELECT FROM group_secrets g WHERE g.group_id = s.group_id AND g.sealed IS NOT NULL)
        AS has_secrets
    -- The first event of the run defines its content.
    FROM claimed q JOIN events e ON e.stream_id = 'run-' || q.run_id AND e.version = 1
      -- LEFT JOIN, so that a leased run whose script is missing is returned and can fail with that reason.
      LEFT JOIN scripts s ON s.script_id = q.script_id
    ORDER BY q.priority DESC, q.queue_position`;

const correlationId = `${correlationIdOf('q.run_id')} AS correlation_id`;

/** The quota for runs whose script cannot be found. */
const quota = defaultSettings.storageQuotaBytes;

/** Selects runs in order of acceptance, for queue clients, which claim runs without a runtime. Queue clients have no
 *  labels. */
const inOrder = (among = '') => `SELECT run_id FROM run_queue
      WHERE fence IS NULL AND NOT waiting AND runs_on = '[]'
        AND (lease_until IS NULL OR lease_until < now())${among}
      ORDER BY priority DESC, queue_position
      LIMIT $2 FOR UPDATE SKIP LOCKED`;

const statements = {
  claim: claim('SELECT run_id FROM lock_next_runs($1, $2, $5::jsonb) AS run_id'),
  claimInOrder: claim(inOrder()),
  claimOfGroups: claim(
    inOrder(` AND EXISTS (SELECT FROM runs own
        WHERE own.run_id = run_queue.run_id AND own.group_id = ANY($5::uuid[]))`),
  ),
  renew: `UPDATE run_queue SET leased_at = now(), lease_until = now() + make_interval(secs => $3)
    WHERE owner = $1 AND run_id = ANY($2::uuid[]) AND lease_until > now()
    RETURNING run_id, stop_requested`,
  // With a delay, the run keeps a lease without an owner, which only postpones the next claim.
  release: `UPDATE run_queue
    SET owner = NULL, leased_at = now(),
      lease_until = CASE WHEN $3 > 0 THEN now() + make_interval(secs => $3) END
    WHERE owner = $1 AND run_id = ANY($2::uuid[]) AND fence IS NULL`,
  // Handles leases that were granted before the database clock was set back. Each such lease restarts at its full
  // length. A live owner renews the lease; otherwise, it expires. Processes of earlier releases do not update
  // `leased_at`.
  restartLeases: `UPDATE run_queue
    SET leased_at = now(), lease_until = now() + (lease_until - leased_at)
    WHERE leased_at > now() AND lease_until > leased_at`,
  lost: `SELECT q.run_id, q.script_id, r.script_name, q.fence, coalesce(log.lines, 0) AS log_lines,
      coalesce(log.bytes, 0) AS log_bytes, ${correlationId}
    FROM run_queue q JOIN runs r ON r.run_id = q.run_id LEFT JOIN LATERAL (
      SELECT max(last_seq) AS lines, sum(bytes) AS bytes FROM run_log_chunks c
      WHERE c.run_id = q.run_id) log ON true
    WHERE q.fence IS NOT NULL AND (q.lease_until IS NULL OR q.lease_until < now())
    ORDER BY q.run_id LIMIT $1`,
  expired: `SELECT run_id, script_id, ${correlationId} FROM run_queue q
    WHERE fence IS NULL AND NOT approval_pending AND expires_at <= now() AND (owner IS NULL OR lease_until < now())
    ORDER BY expires_at, run_id LIMIT $1`,
};

/** A run's `RunQueued` event, and other data that a runtime needs. */
interface ClaimRow extends EventRow {
  readonly script_id: string;
  /** The stream version at the last update of the queue row. */
  readonly stream_version: number;
  readonly storage_quota_bytes: number;
  readonly has_secrets: boolean;
  /** `null` if the script cannot be found. */
  readonly resident: ResidentSettings | null;
  readonly merge_stderr: boolean | null;
}

interface UnfinishedRow {
  readonly run_id: string;
  readonly script_id: string;
  readonly correlation_id: string;
}

interface LostRow extends UnfinishedRow {
  readonly script_name: string;
  readonly fence: number;
  readonly log_lines: number;
  readonly log_bytes: number;
}

export class PostgresRunQueue implements RunQueue {
  readonly #db: Queryable;
  readonly #known: KnownStreams | undefined;

  /** @param streams the stream cache for claimed runs */
  constructor(db: Queryable, streams?: KnownStreams) {
    this.#db = db;
    this.#known = streams;
  }

  async claim(
    owner: string,
    limit: number,
    leaseSeconds: number,
    labels: readonly string[] = [],
  ): Promise<readonly ClaimedRun[]> {
    const values = [owner, limit, leaseSeconds, quota, JSON.stringify(labels)];
    return await this.#claim(statements.claim, values);
  }

  async claimInOrder(
    owner: string,
    limit: number,
    leaseSeconds: number,
    groupIds?: readonly GroupId[],
  ): Promise<readonly ClaimedRun[]> {
    const values = [owner, limit, leaseSeconds, quota];
    return groupIds === undefined
      ? await this.#claim(statements.claimInOrder, values)
      : await this.#claim(statements.claimOfGroups, [...values, groupIds]);
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
      runId: mustParse(parseRunId, row.run_id),
      stopRequested: row.stop_requested,
    }));
  }

  async release(owner: string, runIds: readonly RunId[], delaySeconds = 0): Promise<void> {
    await this.#db.query(statements.release, [owner, runIds, delaySeconds]);
  }

  async lost(limit: number): Promise<readonly LostRun[]> {
    await this.#db.query(statements.restartLeases);
    const { rows } = await this.#db.query<LostRow>(statements.lost, [limit]);
    return rows.map((row) => ({
      ...unfinished(row),
      scriptName: row.script_name,
      fence: row.fence,
      logLines: row.log_lines,
      logBytes: row.log_bytes,
    }));
  }

  async expired(limit: number): Promise<readonly UnfinishedRun[]> {
    const { rows } = await this.#db.query<UnfinishedRow>(statements.expired, [limit]);
    return rows.map(unfinished);
  }

  async #claim(text: string, values: readonly unknown[]): Promise<readonly ClaimedRun[]> {
    const { rows } = await this.#db.query<ClaimRow>(text, [...values]);
    return rows.map((row) => this.#claimed(row));
  }

  #claimed(row: ClaimRow): ClaimedRun {
    const event = recorded(row) as Recorded<RunQueued>;
    if (row.stream_version === 1) this.#known?.keep(event.streamId, { events: [event] });
    const { data, metadata } = event;
    const { trigger } = data;
    return {
      runId: data.runId,
      scriptId: mustParse(parseScriptId, row.script_id),
      scriptVersion: data.scriptVersion,
      entrypoint: data.entrypoint,
      limits: data.limits,
      storageQuotaBytes: row.storage_quota_bytes,
      environment: data.environment ?? {},
      python: data.python ?? null,
      startMode: data.startMode ?? 'warm',
      resident: row.resident ?? defaultSettings.resident,
      mergeStderr: row.merge_stderr ?? false,
      listenPorts: data.listenPorts ?? [],
      resolution: data.resolution ?? null,
      triggerType: trigger.type,
      paramsSha256: data.paramsSha256,
      payloadSha256: payloadOf(trigger) ?? null,
      hasSecrets: row.has_secrets,
      attempt: data.attempt,
      correlationId: metadata.correlationId,
      commandId: metadata.commandId,
      queuedAt: event.recordedAt,
      scriptName: data.scriptName,
    };
  }
}

function unfinished(row: UnfinishedRow): UnfinishedRun {
  return {
    runId: mustParse(parseRunId, row.run_id),
    scriptId: mustParse(parseScriptId, row.script_id),
    correlationId: row.correlation_id,
  };
}
