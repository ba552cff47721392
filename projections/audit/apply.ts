import { eventTypes, type Recorded } from '#domain/aggregates.ts';
import { sql, type RawBuilder } from 'kysely';
import { between, type Projection, type ReadModels } from '../projection.ts';
import { chainStart, entriesOf, type ChainEnd } from './entries.ts';
import { spanSize } from './table.ts';

/** Builds the audit trail. Each event, whatever its type, has one entry. The entries are numbered and hash-chained
 *  without gaps. Only the projector writes entries, and it locks the checkpoint's row meanwhile. A rebuild results
 *  in identical hashes (docs/adr/0016-the-audit-chain.md). */
export const auditProjection: Projection = {
  name: 'audit',
  version: 3,
  handles: eventTypes,
  tables: ['audit', 'audit_spans', 'audit_scripts'],
  fill: {
    covers: 'every event',
    takes: 'every shape',
    run: (db, from, to) => addEntries(db, sql`(SELECT * FROM events WHERE ${between(from, to)})`),
  },
  apply: (db, events) => addEntries(db, unknownOf(events)),
};

/** Returns a relation with the columns of `events`. Events that already have entries are omitted. */
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
const idIn = (prefix: string) => sql`CASE WHEN starts_with(resource, ${sql.lit(`${prefix}-`)})
  THEN substring(resource FROM ${sql.lit(`^${prefix}-(${uuid})$`)})::uuid END`;

/** Resource kinds whose first event contains no script ID. */
const withoutScript = '{script,group,group_secret,user,session,token,system,refusal,disclosure}';

/** The script that an entry belongs to. The script ID is taken from the event, from the requested resource, or from
 *  the first event of the resource. A chain belongs to its source script. */
const scriptOf = sql`coalesce((data ->> 'scriptId')::uuid, (data ->> 'sourceScriptId')::uuid, ${idIn('script')},
  CASE WHEN split_part(resource, '-', 1) <> ALL (${sql.lit(withoutScript)}::text[]) THEN
    (SELECT coalesce(first.data ->> 'scriptId', first.data ->> 'sourceScriptId')::uuid FROM events first
      WHERE first.stream_id = resource AND first.version = 1) END)`;

/** The group that owns the secret that is due for rotation. */
const rotationGroup = sql`CASE WHEN starts_with(resource, 'rotation-') THEN (data ->> 'groupId')::uuid END`;

/** The cause of a run, a notice or a skipped chain. */
const causeOf = sql`CASE
  WHEN action = 'run_queued' THEN coalesce('run-' || (data #>> '{trigger,runId}'),
    'schedule-' || (data #>> '{trigger,scheduleId}'), 'webhook-' || (data #>> '{trigger,webhookId}'))
  WHEN action IN ('notice_posted', 'secrets_read') THEN 'run-' || (data ->> 'runId')
  WHEN action = 'chain_skipped' THEN 'run-' || (data ->> 'sourceRunId') END`;

/** Appends entries for the events. An entry belongs to the group that its script is in at that time. Events that
 *  move a script to another group are rare, because most scripts never move. */
async function addEntries(db: ReadModels, source: RawBuilder<unknown>): Promise<void> {
  const end = await chainEnd(db);
  await sql`
    WITH ${entriesOf(source, end)}, placed AS MATERIALIZED (
      SELECT entry.*, ${scriptOf} AS script_id, coalesce(${idIn('group')}, ${idIn('group_secret')}, ${rotationGroup}) AS own_group_id, ${causeOf} AS caused_by,
        CASE WHEN action IN ('script_created', 'script_changed') THEN (data ->> 'groupId')::uuid END AS moved_to
      FROM entry
    ), stay AS MATERIALIZED (
      SELECT script_id, moved_to AS group_id, audit_seq AS since,
        lead(audit_seq, 1, ${sql.lit(Number.MAX_SAFE_INTEGER)}::bigint)
          OVER (PARTITION BY script_id ORDER BY audit_seq) AS until
      FROM placed WHERE moved_to IS NOT NULL
    ), moved AS (
      INSERT INTO audit_scripts (script_id, group_id)
      SELECT script_id, group_id FROM stay WHERE until = ${sql.lit(Number.MAX_SAFE_INTEGER)}::bigint
      ON CONFLICT (script_id) DO UPDATE SET group_id = excluded.group_id
    ), spanned AS (
      INSERT INTO audit_spans AS old (span, first_time, last_time, first_position, last_position)
      SELECT (audit_seq - 1) / ${sql.lit(spanSize)}, min(time), max(time), min(event_position),
        max(event_position) FROM placed GROUP BY 1
      ON CONFLICT (span) DO UPDATE SET first_time = least(old.first_time, excluded.first_time),
        last_time = greatest(old.last_time, excluded.last_time),
        first_position = least(old.first_position, excluded.first_position),
        last_position = greatest(old.last_position, excluded.last_position)
    )
    INSERT INTO audit (audit_seq, event_id, event_position, event_hash, time, actor, action, resource,
      outcome, detail, ip, correlation_id, causation_id, prev_hash, hash, group_id, caused_by)
    SELECT audit_seq, event_id, event_position, event_hash, time, actor, action, resource, outcome, detail,
      ip, correlation_id, causation_id, prev_hash, hash, coalesce(own_group_id, stay.group_id,
        (SELECT group_id FROM audit_scripts known WHERE known.script_id = placed.script_id)), caused_by
    FROM placed LEFT JOIN stay ON stay.script_id = placed.script_id AND audit_seq >= since AND audit_seq < until
    ORDER BY audit_seq`.execute(db);
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
