-- Runs may wait for a slot of their script, and for a time. Whoever waits is claimed by nobody until it
-- is released, and no longer than its queue limit.

ALTER TABLE runs ADD COLUMN waiting boolean NOT NULL DEFAULT false, ADD COLUMN available_at timestamptz;
UPDATE runs SET available_at = queued_at;
ALTER TABLE runs ALTER COLUMN waiting DROP DEFAULT, ALTER COLUMN available_at SET NOT NULL;
-- Reruns and retries are looked up by the run that they repeat.
CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

ALTER TABLE run_queue ADD COLUMN waiting boolean NOT NULL DEFAULT false,
  ADD COLUMN expires_at timestamptz;
UPDATE run_queue SET expires_at = available_at + interval '24 hours';
ALTER TABLE run_queue ALTER COLUMN waiting DROP DEFAULT;

DROP INDEX run_queue_waiting;
CREATE INDEX run_queue_ready ON run_queue (priority DESC, available_at, run_id)
  WHERE fence IS NULL AND NOT waiting;
CREATE INDEX run_queue_waiting ON run_queue (script_id, available_at, run_id) WHERE waiting;
CREATE INDEX run_queue_by_expiry ON run_queue (expires_at) WHERE fence IS NULL;
