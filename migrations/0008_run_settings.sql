-- What more an author may set: when a failed run is tried again, whether one run is kept alive, the
-- variables and the interpreter of runs. A run keeps what it was queued with.

ALTER TABLE scripts
  ADD COLUMN retry jsonb NOT NULL DEFAULT
    '{"max_attempts": 1, "backoff_seconds": 10, "backoff_factor": 2, "max_backoff_seconds": 3600}',
  ADD COLUMN keep_alive boolean NOT NULL DEFAULT false,
  ADD COLUMN environment jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN python text,
  ADD COLUMN resolution text;
ALTER TABLE scripts ALTER COLUMN retry DROP DEFAULT, ALTER COLUMN keep_alive DROP DEFAULT,
  ALTER COLUMN environment DROP DEFAULT;
CREATE INDEX scripts_kept_alive ON scripts (script_id) WHERE keep_alive AND enabled AND NOT deleted;

ALTER TABLE runs
  ADD COLUMN environment jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN python text,
  ADD COLUMN resolution text;
ALTER TABLE runs ALTER COLUMN environment DROP DEFAULT;
