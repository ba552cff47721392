-- Looking back on the whole platform: events are found by their place and time without reading all of them,
-- and the runs that were active are known at marks along the history. A mark follows from the events alone:
-- the table may be emptied at any time.

-- Events lie about in the order of both, so that this takes next to no room and no time to keep.
CREATE INDEX events_by_place ON events USING brin (global_position, recorded_at)
  WITH (pages_per_range = 16, autosummarize = on);

CREATE TABLE replay_marks (
  -- All events up to this position.
  position bigint PRIMARY KEY,
  -- The latest time at which any of them was recorded.
  latest timestamptz NOT NULL,
  -- Streams of the runs that were queued or running then.
  active text[] NOT NULL
);
GRANT SELECT, INSERT, DELETE ON replay_marks TO orch_app;
