-- Most appends go to one stream: its head is moved by a plain statement, which costs less than half of what
-- the form for many streams costs. What is checked and answered is the same.

CREATE OR REPLACE FUNCTION append_events(
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
  IF cardinality(p_stream_ids) = 1 THEN
    IF p_expected[1] = 0 THEN
      INSERT INTO streams (stream_id, stream_type, version)
      VALUES (p_stream_ids[1], p_stream_types[1], p_counts[1]) ON CONFLICT DO NOTHING;
    ELSE
      UPDATE streams s SET version = s.version + p_counts[1]
      WHERE s.stream_id = p_stream_ids[1] AND s.version = p_expected[1];
    END IF;
    GET DIAGNOSTICS moved = ROW_COUNT;
  ELSE
    -- In the order of their ids, so that two appends never wait for each other in a ring.
    PERFORM 1 FROM streams s WHERE s.stream_id = ANY (p_stream_ids) ORDER BY s.stream_id FOR UPDATE;

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
  END IF;

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
