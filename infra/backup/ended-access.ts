/** Access that was revoked after a backup: revoked tokens, ended sessions, disabled accounts, changed passwords and
 *  replaced webhook tokens. After an in-place restore, these revocations are recorded again. A webhook is restored as
 *  disabled if it was disabled or deleted, if its signing secret was replaced, or if its script was deleted. Identities
 *  that were unlinked or replaced are unlinked again. An identity provider is restored as disabled if it was disabled
 *  or deleted, or if a change may have affected which users it admits. */
import type { NewEvent } from '#domain/kernel/event.ts';
import type { Queryable } from '#infra/postgres/database.ts';

/** Stores the revocations in a temporary table because a restore drops the schemas. `cause` is the event that revoked
 *  the access. A revocation whose event is in the restored history is not recorded again. */
const note = `CREATE TEMPORARY TABLE ended_access ON COMMIT DROP AS
  WITH endings AS (
    SELECT DISTINCT ON (stream_id) stream_id, version, event_id, data ->> 'keptSessionId' AS kept
    FROM events WHERE type = 'UserPasswordChanged'
      OR (type = 'UserChanged' AND data ->> 'disabled' = 'true')
    ORDER BY stream_id, version DESC),
  switches AS (
    SELECT DISTINCT ON (stream_id) stream_id, type, event_id, data FROM events
    WHERE (type = 'UserChanged' AND data ? 'disabled') OR (type = 'WebhookChanged' AND data ? 'enabled')
    ORDER BY stream_id, version DESC),
  latest AS (
    SELECT DISTINCT ON (stream_id, type) stream_id, type, event_id, data FROM events
    WHERE type IN ('UserPasswordChanged', 'WebhookRotated', 'WebhookSigningSet', 'WebhookDeleted')
    ORDER BY stream_id, type, version DESC),
  deletions AS (
    SELECT DISTINCT ON (stream_id) type, event_id, data -> 'scriptId' AS script_id FROM events
    WHERE type IN ('ScriptDeleted', 'ScriptRestored') ORDER BY stream_id, version DESC),
  identities AS (
    SELECT DISTINCT ON (stream_id, data ->> 'identityProviderId') stream_id, event_id, data FROM events
    WHERE type IN ('UserIdentityLinked', 'UserIdentityUnlinked')
    ORDER BY stream_id, data ->> 'identityProviderId', version DESC),
  narrowed_providers AS (
    SELECT stream_id, event_id, data FROM events
    WHERE type = 'IdentityProviderDeleted' OR (type = 'IdentityProviderChanged'
      AND (data ->> 'enabled' = 'false' OR data ?| ARRAY['issuer', 'clientId', 'sealed', 'linkAccounts',
        'createAccounts', 'trustEmails', 'emailDomains', 'rules', 'defaultRole']))
    ORDER BY stream_id, version DESC),
  withdrawn_webhooks AS (
    SELECT * FROM switches WHERE type = 'WebhookChanged' AND data ->> 'enabled' = 'false'
    UNION ALL SELECT * FROM latest WHERE type IN ('WebhookSigningSet', 'WebhookDeleted')
    UNION ALL SELECT w.stream_id, w.type, d.event_id, w.data
      FROM deletions d JOIN events w ON w.type = 'WebhookCreated' AND w.data -> 'scriptId' = d.script_id
      WHERE d.type = 'ScriptDeleted')
  SELECT stream_id, type, data, event_id AS cause, NULL::uuid AS credential_id, NULL::text AS password_hash
    FROM events WHERE type IN ('TokenRevoked', 'SessionClosed')
  UNION ALL
  SELECT o.stream_id, 'SessionClosed',
      jsonb_build_object('sessionId', o.data -> 'sessionId', 'reason', 'revoked'), e.event_id, NULL, NULL
    FROM events o JOIN endings e ON e.stream_id = 'user-' || (o.data ->> 'userId')
    WHERE o.type = 'SessionOpened' AND (o.data ->> 'accountVersion')::bigint < e.version
      AND o.data ->> 'sessionId' IS DISTINCT FROM e.kept
      AND NOT EXISTS (SELECT FROM events c WHERE c.stream_id = o.stream_id AND c.type = 'SessionClosed')
  UNION ALL
  SELECT stream_id, 'UserChanged', jsonb_build_object('userId', data -> 'userId', 'disabled', true), event_id,
      NULL, NULL
    FROM switches WHERE type = 'UserChanged' AND data ->> 'disabled' = 'true'
  UNION ALL
  SELECT stream_id, 'UserPasswordChanged', data, event_id, credential_id, password_hash
    FROM latest JOIN credentials ON credential_id = (data ->> 'credentialId')::uuid
    WHERE type = 'UserPasswordChanged'
  UNION ALL
  SELECT stream_id, type, data, event_id, NULL, NULL FROM latest WHERE type = 'WebhookRotated'
  UNION ALL
  SELECT stream_id, 'WebhookChanged', jsonb_build_object('webhookId', data -> 'webhookId', 'enabled', false), event_id,
      NULL, NULL
    FROM withdrawn_webhooks
  UNION ALL
  SELECT stream_id, 'UserIdentityUnlinked',
      jsonb_build_object('userId', data -> 'userId', 'identityProviderId', data -> 'identityProviderId'), event_id,
      NULL, NULL
    FROM identities
  UNION ALL
  SELECT DISTINCT ON (stream_id) stream_id, 'IdentityProviderChanged',
      jsonb_build_object('identityProviderId', data -> 'identityProviderId', 'enabled', false), event_id, NULL, NULL
    FROM narrowed_providers`;

/** Selects the revocations to record again. Sessions that are missing from the restored history are omitted, because
 *  they cannot become valid again. Revocations of tokens, accounts and webhooks are always included, because a newer
 *  backup that contains the resource may be restored later. */
const unknown = `FROM ended_access a
  WHERE NOT EXISTS (SELECT FROM events e WHERE e.event_id = a.cause)
    AND (a.type <> 'SessionClosed' OR (
      EXISTS (SELECT FROM streams s WHERE s.stream_id = a.stream_id)
      AND NOT EXISTS (SELECT FROM events e WHERE e.stream_id = a.stream_id AND e.type = 'SessionClosed')))
    AND (a.type <> 'TokenRevoked' OR NOT EXISTS (
      SELECT FROM events e WHERE e.stream_id = a.stream_id AND e.type = 'TokenRevoked'))
    AND (a.type NOT LIKE 'Webhook%' OR NOT EXISTS (
      SELECT FROM events e WHERE e.stream_id = a.stream_id AND e.type = 'WebhookDeleted'))`;

const statements = {
  note,
  list: `SELECT DISTINCT stream_id, type, data ${unknown} ORDER BY stream_id, type`,
  passwords: `INSERT INTO credentials (credential_id, password_hash)
    SELECT a.credential_id, a.password_hash ${unknown} AND a.credential_id IS NOT NULL
    ON CONFLICT DO NOTHING`,
  active: `SELECT
    (SELECT count(*) FROM users WHERE NOT disabled) AS accounts,
    (SELECT count(*) FROM api_tokens t JOIN users u USING (user_id) WHERE t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > $1) AND NOT u.disabled) AS tokens,
    (SELECT count(*) FROM sessions s JOIN users u USING (user_id)
      WHERE s.closed_at IS NULL AND NOT u.disabled
        AND (s.account_version = u.access_version OR s.session_id = u.kept_session_id)) AS sessions`,
};

/** A revocation that must be recorded again. */
export type EndedAccess = Pick<NewEvent, 'type'> & {
  readonly stream_id: string;
  readonly data: object;
};

/** The number of active accounts, tokens and sessions. */
export interface ActiveAccess {
  readonly accounts: number;
  readonly tokens: number;
  readonly sessions: number;
}

/** Saves the revocations of the current history before it is cleared. */
export async function noteEndedAccess(db: Queryable): Promise<void> {
  await db.query(statements.note);
}

/** Restores changed passwords, and lists the other revocations that the restored history does not contain. The caller
 *  records them in their streams. */
export async function unknownEndedAccess(db: Queryable): Promise<readonly EndedAccess[]> {
  await db.query(statements.passwords);
  const { rows } = await db.query<EndedAccess>(statements.list);
  return rows;
}

/** @param now the time at which tokens are checked for expiry */
export async function countActiveAccess(db: Queryable, now: Date): Promise<ActiveAccess> {
  const { rows } = await db.query<ActiveAccess>(statements.active, [now]);
  return rows[0] ?? { accounts: 0, tokens: 0, sessions: 0 };
}
