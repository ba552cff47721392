import type { EventType, Recorded } from '#domain/aggregates.ts';
import { sql, type RawBuilder } from 'kysely';
import { between, type Projection, type ReadModels } from '../projection.ts';
import { chainStart, entriesOf, type ChainEnd } from './entries.ts';
import { spanSize } from './table.ts';

/** Every type there is; the compiler names the one that is missing. What it is called in the trail follows
 *  from its name. */
const handled = {
  ScriptCreated: true,
  ScriptChanged: true,
  FileSaved: true,
  FileDeleted: true,
  FileMoved: true,
  ScriptEnabled: true,
  ScriptDisabled: true,
  ScriptDeleted: true,
  ScriptRestored: true,
  ScriptPurged: true,
  ScriptPurgeFinished: true,
  SecretSet: true,
  SecretDeleted: true,
  SecretsRead: true,
  ScheduleCreated: true,
  ScheduleChanged: true,
  ScheduleDeleted: true,
  OccurrencesPassed: true,
  NoticePosted: true,
  ChannelCreated: true,
  ChannelChanged: true,
  ChannelDeleted: true,
  RuleCreated: true,
  RuleChanged: true,
  RuleDeleted: true,
  DeliveryQueued: true,
  DeliverySent: true,
  DeliveryDelayed: true,
  DeliveryFailed: true,
  RunQueued: true,
  RunReleased: true,
  RunStarted: true,
  RunStopRequested: true,
  RunFinished: true,
  UserCreated: true,
  UserChanged: true,
  UserPasswordChanged: true,
  SessionOpened: true,
  SessionRefreshed: true,
  SessionClosed: true,
  TokenIssued: true,
  TokenRevoked: true,
  WebhookCreated: true,
  WebhookChanged: true,
  WebhookRotated: true,
  WebhookSigningSet: true,
  WebhookSigningEnded: true,
  WebhookDeleted: true,
  ChainCreated: true,
  ChainChanged: true,
  ChainDeleted: true,
  ChainSkipped: true,
  GroupCreated: true,
  GroupChanged: true,
  GroupDeleted: true,
  TriggersPaused: true,
  TriggersResumed: true,
  RetentionChanged: true,
  BackupScheduleChanged: true,
  BackupStarted: true,
  BackupFinished: true,
  BackupFailed: true,
  BackupFound: true,
  BackupLost: true,
  BackupCheckRequested: true,
  BackupChecked: true,
  BackupDeleted: true,
  RestoreRequested: true,
  RestoreFailed: true,
  BackupRestored: true,
  RequestRefused: true,
  ReleaseFound: true,
  UpdateStarted: true,
  UpdateStepFinished: true,
  UpdateSucceeded: true,
  UpdateFailed: true,
  UpdateRolledBack: true,
  DataDisclosed: true,
} as const satisfies Record<EventType, true>;

/** Who did what or tried to: one entry for every event, whatever its type, numbered and chained without a
 *  gap. Its single writer is the projector, which holds the checkpoint's row while it writes. Made anew
 *  it is the same, hash by hash (docs/adr/0016-the-audit-chain.md). */
export const auditProjection: Projection = {
  name: 'audit',
  version: 3,
  handles: Object.keys(handled) as EventType[],
  tables: ['audit', 'audit_spans', 'audit_scripts'],
  fill: {
    covers: 'every event',
    takes: 'every shape',
    run: (db, from, to) => addEntries(db, sql`(SELECT * FROM events WHERE ${between(from, to)})`),
  },
  apply: (db, events) => addEntries(db, unknownOf(events)),
};

/** Given events, as a relation with the columns of `events`; without those that have entries. */
function unknownOf(events: readonly Recorded[]): RawBuilder<unknown> {
  const rows = events.map(({ position, ...event }) => ({
    transaction_id: position.transactionId.toString(),
    global_position: position.globalPosition,
    stream_id: event.streamId,
    version: event.version,
    event_id: event.eventId,
    type: event.type,
    schema_version: event.schemaVersion,
    data: event.data,
    metadata: event.metadata,
    recorded_at: event.recordedAt.toISOString(),
  }));
  return sql`(SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (transaction_id xid8,
      global_position bigint, stream_id text, version bigint, event_id uuid, type text,
      schema_version integer, data jsonb, metadata jsonb, recorded_at timestamptz)
    WHERE NOT EXISTS (SELECT FROM audit WHERE audit.event_id = given.event_id))`;
}

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const idIn = (prefix: string) =>
  sql`substring(resource FROM ${sql.lit(`^${prefix}-(${uuid})$`)})::uuid`;

/** The script that an entry is about: named by the event, by what was asked for, or by how that began. A
 *  chain is its source's. */
const scriptOf = sql`coalesce((data ->> 'scriptId')::uuid, (data ->> 'sourceScriptId')::uuid, ${idIn('script')},
  CASE WHEN resource !~ '^(script|group|user|session|token|system|refusal|disclosure)-' THEN
    (SELECT coalesce(first.data ->> 'scriptId', first.data ->> 'sourceScriptId')::uuid FROM events first
      WHERE first.stream_id = resource AND first.version = 1) END)`;

/** What a run, a message or a chain's refusal followed from. */
const causeOf = sql`CASE
  WHEN action = 'run_queued' THEN coalesce('run-' || (data #>> '{trigger,runId}'),
    'schedule-' || (data #>> '{trigger,scheduleId}'), 'webhook-' || (data #>> '{trigger,webhookId}'))
  WHEN action IN ('notice_posted', 'secrets_read') THEN 'run-' || (data ->> 'runId')
  WHEN action = 'chain_skipped' THEN 'run-' || (data ->> 'sourceRunId') END`;

/** Chains entries of the events on. They belong to the group in which their script is at that moment. */
async function addEntries(db: ReadModels, source: RawBuilder<unknown>): Promise<void> {
  const end = await chainEnd(db);
  await sql`
    WITH entry AS MATERIALIZED (
      SELECT found.*, ${scriptOf} AS script_id, ${idIn('group')} AS own_group_id,
        ${causeOf} AS caused_by, CASE
        WHEN action IN ('script_created', 'script_changed') THEN (data ->> 'groupId')::uuid END AS moved_to
      FROM (${entriesOf(source, end)}) found
    ), era AS (
      SELECT *, count(moved_to) OVER (PARTITION BY script_id ORDER BY audit_seq) AS era FROM entry
    ), grouped AS (
      SELECT era.*, coalesce(own_group_id, first_value(moved_to)
        OVER (PARTITION BY script_id, era ORDER BY audit_seq), known.group_id) AS group_id
      FROM era LEFT JOIN audit_scripts known USING (script_id)
    ), moved AS (
      INSERT INTO audit_scripts (script_id, group_id)
      SELECT DISTINCT ON (script_id) script_id, moved_to FROM entry WHERE moved_to IS NOT NULL
      ORDER BY script_id, audit_seq DESC
      ON CONFLICT (script_id) DO UPDATE SET group_id = excluded.group_id
    ), spanned AS (
      INSERT INTO audit_spans AS old (span, first_time, last_time, first_position, last_position)
      SELECT (audit_seq - 1) / ${sql.lit(spanSize)}, min(time), max(time), min(event_position),
        max(event_position) FROM entry GROUP BY 1
      ON CONFLICT (span) DO UPDATE SET first_time = least(old.first_time, excluded.first_time),
        last_time = greatest(old.last_time, excluded.last_time),
        first_position = least(old.first_position, excluded.first_position),
        last_position = greatest(old.last_position, excluded.last_position)
    )
    INSERT INTO audit (audit_seq, event_id, event_position, event_hash, time, actor, action, resource,
      outcome, detail, ip, correlation_id, causation_id, prev_hash, hash, group_id, caused_by)
    SELECT audit_seq, event_id, event_position, event_hash, time, actor, action, resource, outcome, detail,
      ip, correlation_id, causation_id, prev_hash, hash, group_id, caused_by
    FROM grouped ORDER BY audit_seq`.execute(db);
}

async function chainEnd(db: ReadModels): Promise<ChainEnd> {
  const last = await db
    .selectFrom('audit')
    .select(['audit_seq', 'hash'])
    .orderBy('audit_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last ?? chainStart;
}
