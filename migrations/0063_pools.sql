-- Pools limit the runs of several scripts together. The defaults are for programs of the previous release.

CREATE TABLE pools (
  pool_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  name text NOT NULL UNIQUE,
  max_runs integer NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON pools TO orch_app;

ALTER TABLE scripts ADD COLUMN pools jsonb NOT NULL DEFAULT '[]';
ALTER TABLE run_queue ADD COLUMN pools jsonb NOT NULL DEFAULT '[]';

-- Few runs take slots of pools. Only these have entries.
CREATE INDEX run_queue_pooled ON run_queue USING gin (pools) WHERE pools <> '[]';
