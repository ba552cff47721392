import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Position } from '#domain/kernel/event.ts';
import { sql } from 'kysely';
import { actorName, actorNameSql } from '../actors.ts';
import { between, type Projection, type ReadModels } from '../projection.ts';
import { unnested } from '../rows.ts';
import type { AuditTable } from './table.ts';

const actions = {
  ScriptCreated: 'script_created',
  ScriptChanged: 'script_changed',
  FileSaved: 'file_saved',
  FileDeleted: 'file_deleted',
  FileMoved: 'file_moved',
  ScriptEnabled: 'script_enabled',
  ScriptDisabled: 'script_disabled',
  ScriptDeleted: 'script_deleted',
  ScriptRestored: 'script_restored',
  ScriptPurged: 'script_purged',
  ScriptPurgeFinished: 'script_purge_finished',
  SecretSet: 'secret_set',
  SecretDeleted: 'secret_deleted',
  SecretsRead: 'secrets_read',
  ScheduleCreated: 'schedule_created',
  ScheduleChanged: 'schedule_changed',
  ScheduleDeleted: 'schedule_deleted',
  OccurrencesPassed: 'occurrences_passed',
  NoticePosted: 'notice_posted',
  RunQueued: 'run_queued',
  RunReleased: 'run_released',
  RunStarted: 'run_started',
  RunStopRequested: 'run_stop_requested',
  RunFinished: 'run_finished',
  UserCreated: 'user_created',
  SessionOpened: 'session_opened',
  SessionRefreshed: 'session_refreshed',
  SessionClosed: 'session_closed',
  TokenIssued: 'token_issued',
  TokenRevoked: 'token_revoked',
  WebhookCreated: 'webhook_created',
  WebhookChanged: 'webhook_changed',
  WebhookRotated: 'webhook_rotated',
  WebhookDeleted: 'webhook_deleted',
  GroupCreated: 'group_created',
  TriggersPaused: 'triggers_paused',
  TriggersResumed: 'triggers_resumed',
  RetentionChanged: 'retention_changed',
  RequestRefused: 'request_refused',
} as const satisfies Record<EventType, string>;

/** Who did what or tried to: one dense number for every event. Its single writer is the projector,
 *  which holds the checkpoint's row while it numbers. */
export const auditProjection: Projection = {
  name: 'audit',
  version: 1,
  handles: Object.keys(actions) as EventType[],
  tables: ['audit'],
  fill: { covers: 'every event', run: fillEntries },
  apply: async (db, events) => {
    const last = await lastSeq(db);
    const known = await alreadyThere(db, events);
    const fresh = events.filter((event) => !known.has(event.eventId));
    await insertEntries(
      db,
      fresh.map((event, index) => entry(event, last + index + 1)),
    );
  },
};

/** `entry`, said in SQL. */
async function fillEntries(db: ReadModels, from: Position, to: Position): Promise<void> {
  const last = await lastSeq(db);
  await sql`
    INSERT INTO audit (audit_seq, event_id, event_position, time, actor, action, resource, outcome,
      detail, ip, correlation_id, causation_id)
    SELECT ${last}::bigint + row_number() OVER (ORDER BY transaction_id, global_position), event_id,
      global_position, recorded_at,
      ${actorNameSql('events')},
      CASE WHEN refused THEN data ->> 'operation' ELSE ${JSON.stringify(actions)}::jsonb ->> type END,
      CASE WHEN refused THEN coalesce(data ->> 'resource', stream_id)
        WHEN type = 'SecretsRead' THEN 'secret-' || (data ->> 'scriptId') ELSE stream_id END,
      CASE WHEN refused THEN 'refused' ELSE 'accepted' END,
      CASE WHEN refused THEN data ->> 'code' || CASE WHEN (data ->> 'count')::bigint = 1 THEN ''
        ELSE ' (' || (data ->> 'count') || ' times)' END
        WHEN type IN ('SecretSet', 'SecretDeleted') THEN data ->> 'name'
        WHEN type = 'SecretsRead' THEN (SELECT string_agg(read ->> 'name', ', ' ORDER BY place)
          FROM jsonb_array_elements(data -> 'secrets') WITH ORDINALITY AS reads (read, place)) END,
      metadata ->> 'ip', metadata ->> 'correlationId', (metadata ->> 'causationId')::uuid
    FROM events, LATERAL (SELECT type = 'RequestRefused' AS refused) kind
    WHERE ${between(from, to)} AND type = ANY(${Object.keys(actions)})`.execute(db);
}

async function lastSeq(db: ReadModels): Promise<number> {
  const row = await db
    .selectFrom('audit')
    .select('audit_seq')
    .orderBy('audit_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.audit_seq ?? 0;
}

async function alreadyThere(
  db: ReadModels,
  events: readonly Recorded[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('audit')
    .select('event_id')
    .where(sql<boolean>`event_id = ANY(${events.map((event) => event.eventId)}::uuid[])`)
    .execute();
  return new Set(rows.map((row) => row.event_id));
}

function entry(event: Recorded, auditSeq: number): AuditTable {
  const refused = event.type === 'RequestRefused';
  return {
    audit_seq: auditSeq,
    event_id: event.eventId,
    event_position: event.position.globalPosition,
    time: event.recordedAt,
    actor: actorName(event.metadata.actor),
    action: refused ? event.data.operation : actions[event.type],
    resource: resourceOf(event),
    outcome: refused ? 'refused' : 'accepted',
    detail: detailOf(event),
    ip: event.metadata.ip,
    correlation_id: event.metadata.correlationId,
    causation_id: event.metadata.causationId,
  };
}

function resourceOf(event: Recorded): string {
  if (event.type === 'RequestRefused') return event.data.resource ?? event.streamId;
  // What was read belongs to the script; the correlation leads to the run.
  return event.type === 'SecretsRead' ? `secret-${event.data.scriptId}` : event.streamId;
}

function detailOf(event: Recorded): string | null {
  if (event.type === 'RequestRefused') return refusalDetail(event.data);
  if (event.type === 'SecretSet' || event.type === 'SecretDeleted') return event.data.name;
  if (event.type !== 'SecretsRead') return null;
  return event.data.secrets.map(({ name }) => name).join(', ');
}

function refusalDetail(data: { readonly code: string; readonly count: number }): string {
  return data.count === 1 ? data.code : `${data.code} (${data.count} times)`;
}

async function insertEntries(db: ReadModels, entries: readonly AuditTable[]): Promise<void> {
  if (entries.length === 0) return;
  const column = (type: string, name: keyof AuditTable) =>
    unnested(
      type,
      entries.map((one) => one[name]),
    );
  await sql`
    INSERT INTO audit (audit_seq, event_id, event_position, time, actor, action, resource, outcome,
      detail, ip, correlation_id, causation_id)
    SELECT * FROM unnest(${sql.join([
      column('bigint', 'audit_seq'),
      column('uuid', 'event_id'),
      column('bigint', 'event_position'),
      column('timestamptz', 'time'),
      column('text', 'actor'),
      column('text', 'action'),
      column('text', 'resource'),
      column('text', 'outcome'),
      column('text', 'detail'),
      column('text', 'ip'),
      column('text', 'correlation_id'),
      column('uuid', 'causation_id'),
    ])})`.execute(db);
}
