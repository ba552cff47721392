-- The order of the queue must not depend on a clock. After the database's clock was set back, queued runs stayed in the
-- queue until the clock had caught up, and later runs overtook them.

-- Runs get their positions in the order in which they are accepted. A sequence of its own, since a rebuild replaces the table.
CREATE SEQUENCE run_queue_positions;
GRANT USAGE ON SEQUENCE run_queue_positions TO orch_app;

ALTER TABLE run_queue
  ADD COLUMN queue_position bigint NOT NULL DEFAULT nextval('run_queue_positions'),
  -- Whether the run must not start before `available_at`. The default is for programs of the previous release, which do
  -- not know the column: their runs wait for that time, as before.
  ADD COLUMN delayed boolean NOT NULL DEFAULT true,
  ADD COLUMN not_before timestamptz GENERATED ALWAYS AS (CASE WHEN delayed THEN available_at END) STORED,
  -- When the lease was granted or renewed. A time in the future shows that the clock was set back.
  ADD COLUMN leased_at timestamptz;

-- The default has taken as many positions as there are rows.
UPDATE run_queue q SET queue_position = first.position, delayed = first.delayed
FROM (
  SELECT stream_id, row_number() OVER (ORDER BY transaction_id, global_position) AS position,
    coalesce((data ->> 'notBefore')::timestamptz > recorded_at, false) AS delayed
  FROM events
  WHERE version = 1 AND stream_id = ANY(ARRAY(SELECT 'run-' || run_id FROM run_queue))
) AS first
WHERE first.stream_id = 'run-' || q.run_id;

DROP INDEX run_queue_ready, run_queue_waiting;
CREATE INDEX run_queue_ready ON run_queue (priority DESC, queue_position)
  WHERE fence IS NULL AND NOT waiting;
CREATE INDEX run_queue_waiting ON run_queue (script_id, not_before NULLS FIRST, queue_position) WHERE waiting;
