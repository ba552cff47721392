-- Long streams took longer with every event: each command folded all of them, and so would each look
-- at the past. A snapshot is the state after one of the events. It follows from the events alone: the
-- table may be emptied at any time.

CREATE TABLE snapshots (
  stream_id text NOT NULL,
  -- Version of the states, and of the events that they were folded from: `formatOf`, domain/snapshots.ts.
  format text NOT NULL,
  version bigint NOT NULL,
  -- The very event that was folded last: a snapshot of another history is not used.
  event_id uuid NOT NULL,
  state jsonb NOT NULL,
  size integer NOT NULL,
  PRIMARY KEY (stream_id, format, version)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON snapshots TO orch_app;
