-- The audit trail becomes a chain: each entry holds the hash of the one before it, so that nothing of it
-- can be changed, added or left out without every later hash showing it. Entries are what the services
-- add and never change. They say whose they are (the group of then), and in which spans of the chain a
-- time or a position can be at all. The rows of old events are made anew: projection audit, version 2.

TRUNCATE audit;
ALTER TABLE audit
  ADD COLUMN event_hash text NOT NULL,
  ADD COLUMN prev_hash text NOT NULL,
  ADD COLUMN hash text NOT NULL,
  ADD COLUMN group_id uuid;
REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM orch_app;

-- A list that is narrowed to any one of these is a range of one index, in the order of the list.
CREATE INDEX audit_by_actor ON audit (actor, audit_seq);
CREATE INDEX audit_by_actor_and_action ON audit (actor, action, audit_seq);
CREATE INDEX audit_by_action ON audit (action, audit_seq);
CREATE INDEX audit_by_resource ON audit (resource, audit_seq);
CREATE INDEX audit_by_group ON audit (group_id, audit_seq) WHERE group_id IS NOT NULL;
CREATE INDEX audit_by_outcome ON audit (outcome, audit_seq) WHERE outcome <> 'accepted';

-- Clocks and positions do not quite go in the order of the chain. A span is a thousand entries.
CREATE TABLE audit_spans (
  span bigint PRIMARY KEY,
  first_time timestamptz NOT NULL,
  last_time timestamptz NOT NULL,
  first_position bigint NOT NULL,
  last_position bigint NOT NULL
) WITH (fillfactor = 50); -- the newest is written with every batch

-- In which group each script was, as of the last event that has an entry.
CREATE TABLE audit_scripts (
  script_id uuid PRIMARY KEY,
  group_id uuid NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON audit_spans, audit_scripts TO orch_app;

-- What an entry says of its event as it is stored. The format is permanent: docs/audit.md.
CREATE FUNCTION audit_event_hash(stream_id text, version bigint, event_id uuid, type text,
  schema_version integer, recorded_at timestamptz, data jsonb, metadata jsonb)
RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
RETURN encode(sha256(convert_to(concat_ws(E'\n', stream_id, version, event_id, type, schema_version,
  to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), data, metadata), 'UTF8')), 'hex');

-- The running hash of a chain. An entry is hashed as canonical JSON, of which `head` is what comes before
-- the hash of the entry before it, and `tail` what comes behind that.
CREATE FUNCTION audit_link(hash text, before text, head text, tail text)
RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
RETURN encode(sha256(convert_to(head || coalesce(hash, before) || tail, 'UTF8')), 'hex');
CREATE AGGREGATE audit_chain (before text, head text, tail text) (SFUNC = audit_link, STYPE = text);

-- Heads of the chain that were signed, for good: what was there once has to be there ever after.
CREATE TABLE audit_heads (
  audit_seq bigint NOT NULL,
  hash text NOT NULL,
  time timestamptz NOT NULL,
  key_id text NOT NULL,
  signature text NOT NULL,
  PRIMARY KEY (audit_seq, key_id)
);
CREATE FUNCTION refuse_head_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'heads of the audit chain are immutable' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_heads_are_immutable BEFORE UPDATE OR DELETE ON audit_heads
  FOR EACH ROW EXECUTE FUNCTION refuse_head_change();
CREATE TRIGGER audit_heads_are_not_truncated BEFORE TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_head_change();
GRANT SELECT, INSERT ON audit_heads TO orch_app;

-- Public keys that heads were signed with, by what names them.
CREATE TABLE audit_keys (
  key_id text PRIMARY KEY,
  public_key text NOT NULL,
  first_used_at timestamptz NOT NULL
);
GRANT SELECT, INSERT ON audit_keys TO orch_app;
