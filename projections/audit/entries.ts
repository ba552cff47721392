/** Derives audit entries from stored events, entirely in SQL. The entries therefore do not depend on later upcasts.
 *  Entries are permanent. If a derived entry changed, every saved head of the chain would become invalid. */
import { sql, type RawBuilder } from 'kysely';
import { actorNameSql } from '../actors.ts';
import { eventTypes } from '#domain/aggregates.ts';

/** The `prev_hash` of the first entry. */
export const noHash = '0'.repeat(64);

/** The end of the chain, at which new entries are appended. */
export interface ChainEnd {
  readonly audit_seq: number;
  readonly hash: string;
}

/** The end of an empty chain. */
export const chainStart: ChainEnd = { audit_seq: 0, hash: noHash };

/** Converts an event type to lower-case words, such as `script_created`. */
const wordsOf = (type: string) => type.replaceAll(/(?!^)([A-Z])/g, '_$1').toLowerCase();
const words = (text: RawBuilder<unknown>) =>
  sql`lower(regexp_replace(${text}, '(?!^)([A-Z])', '_\\1', 'g'))`;

/** A lookup table. Converting types in SQL would take longer than deriving the rest of the entry. */
const known = JSON.stringify(Object.fromEntries(eventTypes.map((type) => [type, wordsOf(type)])));
const typeInWords = sql`coalesce(${sql.lit(known)}::jsonb ->> type, ${words(sql`type`)})`;

/** The names of the settings that an event changed, in lower case. */
const changed = sql`(SELECT string_agg(${words(sql`name`)}, ', ' ORDER BY name) FROM jsonb_object_keys(
  (data || coalesce(data -> 'settings', '{}')) - '{scriptId,webhookId,chainId,userId,version,settings}'::text[]) AS fields (name))`;

const detail = sql`CASE
  WHEN type = 'RequestRefused' THEN data ->> 'code' || CASE WHEN (data ->> 'count')::bigint = 1 THEN ''
    ELSE ' (' || (data ->> 'count') || ' times)' END
  WHEN type IN ('FileSaved', 'FileDeleted', 'FileMoved') THEN data ->> 'path'
  WHEN type = 'FilesRestored' THEN 'version ' || (data ->> 'restoredVersion')
  WHEN type IN ('ScriptChanged', 'WebhookChanged', 'ChainChanged', 'UserChanged') THEN ${changed}
  WHEN type IN ('SecretSet', 'SecretDeleted', 'GroupSecretSet', 'GroupSecretDeleted', 'ScriptCreated', 'GroupCreated', 'GroupChanged', 'TokenIssued', 'WebhookCreated')
    THEN data ->> 'name'
  WHEN type = 'UserCreated' THEN data ->> 'email'
  WHEN type = 'SessionClosed' THEN data ->> 'reason'
  WHEN type = 'RunFinished' THEN data ->> 'outcome'
  WHEN type = 'ChainSkipped' THEN data ->> 'reason'
  WHEN type = 'DataDisclosed' THEN data ->> 'detail'
  WHEN type = 'SecretsRead' THEN (SELECT string_agg((read ->> 'name')
      || coalesce(' from secret_store-' || (read ->> 'storeId'), ''), ', ' ORDER BY place)
    FROM jsonb_array_elements(data -> 'secrets') WITH ORDINALITY AS reads (read, place)) END`;

/** Members of canonical JSON (RFC 8785). Postgres escapes text in the same way as ECMAScript. Values that never need
 *  escaping are only quoted. */
const text = (column: string) => sql`coalesce(to_json(${sql.ref(column)})::text, 'null')`;
const plain = (column: string) => sql`coalesce('"' || ${sql.ref(column)} || '"', 'null')`;
const members = {
  action: text('action'),
  actor: text('actor'),
  audit_seq: sql`audit_seq`,
  causation_id: plain('causation_id'),
  correlation_id: text('correlation_id'),
  detail: text('detail'),
  event_hash: plain('event_hash'),
  event_id: plain('event_id'),
  ip: text('ip'),
  outcome: plain('outcome'),
};

/** The members of an entry before and after `prev_hash`, sorted by name. */
const head = sql`${sql.join(
  Object.entries(members).map(
    ([name, value], index) => sql`${sql.lit(`${index === 0 ? '{' : ','}"${name}":`)} || ${value}`,
  ),
  sql` || `,
)} || ',"prev_hash":"'`;
const tail = sql`'","resource":' || ${text('resource')} || ',"time":"' || iso || '"}'`;

/** Returns parts of a `WITH` clause that derive entries from events and chain them to `end`. `entry` has the columns
 *  of the table except the group, and also the event's data. Every entry has a link, but a full join is used to
 *  prevent a nested loop. Postgres could otherwise choose one if it cached the plan when the table was small.
 *  @param source a relation with the columns of `events` */
export function entriesOf(source: RawBuilder<unknown>, end: ChainEnd): RawBuilder<unknown> {
  const { audit_seq: before, hash } = end;
  return sql`numbered AS NOT MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY transaction_id, global_position) AS place,
        to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS iso
      FROM ${source} AS event
    ), told AS NOT MATERIALIZED (
      SELECT place + ${before}::bigint AS audit_seq, event_id, global_position AS event_position,
        recorded_at AS time, iso,
        encode(sha256(convert_to(stream_id || E'\n' || version || E'\n' || event_id || E'\n' || type || E'\n'
          || schema_version || E'\n' || iso || E'\n' || data || E'\n' || metadata, 'UTF8')), 'hex') AS event_hash,
        ${actorNameSql('event')} AS actor,
        CASE WHEN type = 'RequestRefused' THEN data ->> 'operation'
          WHEN type = 'DataDisclosed' THEN data ->> 'action' ELSE ${typeInWords} END AS action,
        CASE WHEN type IN ('RequestRefused', 'DataDisclosed') THEN coalesce(data ->> 'resource', stream_id)
          WHEN type = 'SecretsRead' THEN 'secret-' || (data ->> 'scriptId') ELSE stream_id END AS resource,
        CASE WHEN type IN ('RequestRefused', 'ChainSkipped') THEN 'refused'
          WHEN type = 'RunFinished' AND data ->> 'outcome' NOT IN ('success', 'stopped') THEN 'failed'
          ELSE 'accepted' END AS outcome,
        ${detail} AS detail, metadata ->> 'ip' AS ip,
        metadata ->> 'correlationId' AS correlation_id, (metadata ->> 'causationId')::uuid AS causation_id, data
      FROM numbered AS event OFFSET 0
    ), said AS MATERIALIZED (
      SELECT *, ${head} AS head, ${tail} AS tail FROM told
    ), link AS (
      SELECT hash, place + ${before}::bigint AS audit_seq,
        lag(hash, 1, ${hash}) OVER (ORDER BY place) AS prev_hash
      FROM unnest(audit_links(${hash}, ARRAY(SELECT head FROM said ORDER BY audit_seq),
        ARRAY(SELECT tail FROM said ORDER BY audit_seq))) WITH ORDINALITY AS links (hash, place)
    ), entry AS (SELECT * FROM said FULL JOIN link USING (audit_seq))`;
}
