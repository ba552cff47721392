-- What runs used while they ran, in chunks of neighbouring points. The last chunk of an active run is
-- replaced with every sample: room for heap-only updates.

CREATE TABLE run_samples (
  run_id uuid NOT NULL,
  place integer NOT NULL,
  -- JSON array text of points: time in ms, CPU time in s, memory in bytes, threads, processes.
  points text NOT NULL,
  PRIMARY KEY (run_id, place)
) WITH (fillfactor = 70);

GRANT SELECT, INSERT, UPDATE, DELETE ON run_samples TO orch_app;
