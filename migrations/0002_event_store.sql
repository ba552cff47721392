-- The event store: one table of events for good, the heads of their streams, and the answers of
-- commands that must be carried out once.

CREATE TABLE streams (
  stream_id text PRIMARY KEY,
  stream_type text NOT NULL,
  version bigint NOT NULL,
  archived_at timestamptz
) WITH (fillfactor = 80); -- the head is updated by every append: room for heap-only updates

CREATE TABLE events (
  global_position bigint GENERATED ALWAYS AS IDENTITY,
  -- Positions are handed out before their transactions commit. Readers go by the transaction first
  -- and stop at the oldest one still open, so no event can appear behind them.
  transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
  stream_id text NOT NULL,
  version bigint NOT NULL,
  event_id uuid NOT NULL UNIQUE,
  type text NOT NULL,
  schema_version integer NOT NULL,
  data jsonb NOT NULL,
  metadata jsonb NOT NULL,
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (stream_id, version)
);
CREATE INDEX events_in_order ON events (transaction_id, global_position);

-- History is proof: not even the owner changes it by accident.
CREATE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'events are immutable' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER events_are_immutable BEFORE UPDATE OR DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_event_change();
CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_event_change();

-- Appends to several streams, all or none. The per-stream arrays run in parallel, and so do the
-- per-event arrays. Answers one row per event with its place. Where a stream is not at its expected
-- version it raises OR409, whose detail is a JSON array of {stream_id, version}, the truth.
CREATE FUNCTION append_events(
  p_stream_ids text[],
  p_stream_types text[],
  p_expected bigint[],
  p_counts bigint[],
  p_event_streams text[],
  p_event_versions bigint[],
  p_event_ids uuid[],
  p_types text[],
  p_schema_versions integer[],
  p_data jsonb[],
  p_metadata jsonb[],
  p_recorded_at timestamptz
) RETURNS TABLE (stream text, at_version bigint, transaction xid8, place bigint)
LANGUAGE plpgsql AS $$
DECLARE
  moved bigint;
BEGIN
  IF cardinality(p_stream_ids) > 1 THEN
    -- In the order of their ids, so that two appends never wait for each other in a ring.
    PERFORM 1 FROM streams s WHERE s.stream_id = ANY (p_stream_ids) ORDER BY s.stream_id FOR UPDATE;
  END IF;

  WITH wanted AS (
    SELECT * FROM unnest(p_stream_ids, p_stream_types, p_expected, p_counts)
      AS w (stream_id, stream_type, expected, added) ORDER BY stream_id
  ), created AS (
    INSERT INTO streams AS s (stream_id, stream_type, version)
    SELECT w.stream_id, w.stream_type, w.added FROM wanted w WHERE w.expected = 0
    ON CONFLICT DO NOTHING
    RETURNING 1
  ), advanced AS (
    UPDATE streams s SET version = s.version + w.added
    FROM wanted w
    WHERE w.expected > 0 AND s.stream_id = w.stream_id AND s.version = w.expected
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM created) + (SELECT count(*) FROM advanced) INTO moved;

  IF moved < cardinality(p_stream_ids) THEN
    RAISE EXCEPTION 'version conflict' USING ERRCODE = 'OR409', DETAIL = (
      -- A stream that this very call moved is not in conflict, though its head shows it moved.
      SELECT coalesce(json_agg(json_build_object(
        'stream_id', w.stream_id, 'version', coalesce(s.version, 0))), '[]')
      FROM unnest(p_stream_ids, p_expected, p_counts) AS w (stream_id, expected, added)
      LEFT JOIN streams s ON s.stream_id = w.stream_id
      WHERE NOT (s.stream_id IS NOT NULL AND s.version = w.expected + w.added
        AND s.xmin = pg_current_xact_id()::xid));
  END IF;

  RETURN QUERY
    INSERT INTO events AS e
      (stream_id, version, event_id, type, schema_version, data, metadata, recorded_at)
    SELECT u.stream_id, u.version, u.event_id, u.type, u.schema_version, u.data, u.metadata,
      p_recorded_at
    FROM unnest(p_event_streams, p_event_versions, p_event_ids, p_types, p_schema_versions, p_data,
      p_metadata) WITH ORDINALITY
      AS u (stream_id, version, event_id, type, schema_version, data, metadata, ordinal)
    ORDER BY u.ordinal
    RETURNING e.stream_id, e.version, e.transaction_id, e.global_position;
END $$;

CREATE TABLE commands (
  command_id uuid PRIMARY KEY,
  fingerprint text NOT NULL,
  result jsonb NOT NULL,
  recorded_at timestamptz NOT NULL
);
CREATE INDEX commands_by_age ON commands (recorded_at);

CREATE TABLE checkpoints (
  name text PRIMARY KEY,
  version integer NOT NULL,
  transaction_id xid8 NOT NULL,
  global_position bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT ON events TO orch_app;
GRANT SELECT, INSERT, UPDATE ON streams TO orch_app;
GRANT SELECT, INSERT, DELETE ON commands TO orch_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON checkpoints TO orch_app;
GRANT EXECUTE ON FUNCTION append_events TO orch_app;
