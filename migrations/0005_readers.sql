-- What readers of the store need to know: which positions have been handed out, so that a read that
-- names one from the future is told apart from one that only has to wait; and of which version the
-- rows of each projection are, so that no program serves rows that it would have written otherwise.

GRANT SELECT ON SEQUENCE events_global_position_seq TO orch_app;

CREATE TABLE projection_versions (
  name text PRIMARY KEY,
  version integer NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON projection_versions TO orch_app;

-- Rows that are there already are those of the first versions. An empty store has no rows: the first
-- program that starts on it records what it writes.
INSERT INTO projection_versions (name, version)
SELECT name, 1 FROM unnest(ARRAY['groups', 'users', 'sessions', 'scripts', 'script_files', 'runs',
  'run_queue', 'audit']) AS name
WHERE EXISTS (SELECT FROM events);
