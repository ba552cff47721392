-- Figures of runs for the dashboard, by the time of their end: counted behind the append, so that no
-- question has to look at the runs themselves. Stretches of a minute, a quarter of an hour, an hour and a
-- day, for each group and, as group 0, for all together.

CREATE TABLE run_figures (
  level_seconds integer NOT NULL,
  group_id uuid NOT NULL,
  begins_at timestamptz NOT NULL,
  success bigint NOT NULL,
  failed bigint NOT NULL,
  stopped bigint NOT NULL,
  cpu_ms bigint NOT NULL,
  max_memory_bytes bigint NOT NULL,
  -- Counts by the number of a bin, each a tenth wider than the one before.
  durations jsonb NOT NULL,
  waits jsonb NOT NULL,
  PRIMARY KEY (level_seconds, group_id, begins_at)
) WITH (fillfactor = 70); -- those of now are updated with every batch

-- Runs that have not ended, as far as they are counted.
CREATE TABLE figure_runs (
  run_id uuid PRIMARY KEY,
  group_id uuid NOT NULL,
  queued_at timestamptz NOT NULL,
  started_at timestamptz
) WITH (fillfactor = 70);

-- The last event that is counted.
CREATE TABLE figure_place (
  singleton boolean PRIMARY KEY CHECK (singleton),
  transaction_id xid8 NOT NULL,
  global_position bigint NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON run_figures, figure_runs, figure_place TO orch_app;

-- Scripts are counted from the index alone.
DROP INDEX scripts_by_group;
CREATE INDEX scripts_by_group ON scripts (group_id, script_id) INCLUDE (enabled) WHERE NOT deleted;
