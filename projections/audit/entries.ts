/** What the audit trail says of an event, in SQL alone: an entry follows from the event as it is stored,
 *  whatever later programs make of its shape. Entries are permanent: one that came out differently would
 *  break every head that was ever saved. */
import { sql, type RawBuilder } from 'kysely';
import { actorNameSql } from '../actors.ts';

/** `prev_hash` of the first entry. */
export const noHash = '0'.repeat(64);

/** Where a chain is to be continued. */
export interface ChainEnd {
  readonly audit_seq: number;
  readonly hash: string;
}

/** Where a chain begins. */
export const chainStart: ChainEnd = { audit_seq: 0, hash: noHash };

/** A type in words, such as `script_created`. */
const words = (text: RawBuilder<unknown>) =>
  sql`lower(regexp_replace(${text}, '(?!^)([A-Z])', '_\\1', 'g'))`;

/** Names of the settings that an event changed, in words. */
const changed = sql`(SELECT string_agg(${words(sql`name`)}, ', ' ORDER BY name) FROM jsonb_object_keys(
  (data || coalesce(data -> 'settings', '{}')) - '{scriptId,webhookId,chainId,userId,version,settings}'::text[]) AS fields (name))`;

const detail = sql`CASE
  WHEN type = 'RequestRefused' THEN data ->> 'code' || CASE WHEN (data ->> 'count')::bigint = 1 THEN ''
    ELSE ' (' || (data ->> 'count') || ' times)' END
  WHEN type IN ('FileSaved', 'FileDeleted', 'FileMoved') THEN data ->> 'path'
  WHEN type IN ('ScriptChanged', 'WebhookChanged', 'ChainChanged', 'UserChanged') THEN ${changed}
  WHEN type IN ('SecretSet', 'SecretDeleted', 'ScriptCreated', 'GroupCreated', 'GroupChanged', 'TokenIssued', 'WebhookCreated')
    THEN data ->> 'name'
  WHEN type = 'UserCreated' THEN data ->> 'email'
  WHEN type = 'SessionClosed' THEN data ->> 'reason'
  WHEN type = 'RunFinished' THEN data ->> 'outcome'
  WHEN type = 'ChainSkipped' THEN data ->> 'reason'
  WHEN type = 'DataDisclosed' THEN data ->> 'detail'
  WHEN type = 'SecretsRead' THEN (SELECT string_agg(read ->> 'name', ', ' ORDER BY place)
    FROM jsonb_array_elements(data -> 'secrets') WITH ORDINALITY AS reads (read, place)) END`;

/** A member of canonical JSON (RFC 8785): Postgres escapes text as ECMAScript does. */
const member = (name: string, column: string) =>
  sql`${sql.lit(`"${name}":`)} || coalesce(to_json(${sql.ref(column)})::text, 'null')`;

const isoTime = sql`to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** In the order of the names, before and behind `prev_hash`. */
const head = sql`'{' || ${sql.join(
  [
    'action',
    'actor',
    'audit_seq',
    'causation_id',
    'correlation_id',
    'detail',
    'event_hash',
    'event_id',
    'ip',
    'outcome',
  ].map((name) => member(name, name)),
  sql` || ',' || `,
)} || ',"prev_hash":"'`;
const tail = sql`'",' || ${member('resource', 'resource')} || ',"time":"' || ${isoTime} || '"}'`;

/** The entries of events, chained on from `end`. Its rows have the columns of the table but `group_id`, and
 *  `script_id` or `own_group_id`: whose they are.
 *  @param source a relation with the columns of `events` */
export function entriesOf(source: RawBuilder<unknown>, end: ChainEnd): RawBuilder<unknown> {
  return sql`
    SELECT entry.*, coalesce(lag(hash) OVER in_order, ${end.hash}) AS prev_hash FROM (
      SELECT said.*, audit_chain(${end.hash}, ${head}, ${tail}) OVER in_order AS hash FROM (
        SELECT ${end.audit_seq}::bigint
            + row_number() OVER (ORDER BY transaction_id, global_position) AS audit_seq,
          event_id, global_position AS event_position, recorded_at AS time,
          audit_event_hash(stream_id, version, event_id, type, schema_version, recorded_at, data, metadata)
            AS event_hash,
          ${actorNameSql('event')} AS actor,
          CASE WHEN type = 'RequestRefused' THEN data ->> 'operation'
            WHEN type = 'DataDisclosed' THEN data ->> 'action' ELSE ${words(sql`type`)} END AS action,
          CASE WHEN type IN ('RequestRefused', 'DataDisclosed') THEN coalesce(data ->> 'resource', stream_id)
            WHEN type = 'SecretsRead' THEN 'secret-' || (data ->> 'scriptId') ELSE stream_id END AS resource,
          CASE WHEN type IN ('RequestRefused', 'ChainSkipped') THEN 'refused'
            WHEN type = 'RunFinished' AND data ->> 'outcome' NOT IN ('success', 'stopped') THEN 'failed'
            ELSE 'accepted' END AS outcome,
          ${detail} AS detail, metadata ->> 'ip' AS ip,
          metadata ->> 'correlationId' AS correlation_id, (metadata ->> 'causationId')::uuid AS causation_id,
          stream_id, data
        FROM ${source} AS event
      ) said WINDOW in_order AS (ORDER BY audit_seq ROWS UNBOUNDED PRECEDING)
    ) entry WINDOW in_order AS (ORDER BY audit_seq)`;
}
