-- Scripts require labels, and runtimes announce theirs. A drained runtime claims no runs. The defaults are for programs of the previous release.

ALTER TABLE scripts ADD COLUMN runs_on jsonb NOT NULL DEFAULT '[]';
ALTER TABLE run_queue ADD COLUMN runs_on jsonb NOT NULL DEFAULT '[]';
ALTER TABLE runtimes ADD COLUMN labels jsonb NOT NULL DEFAULT '[]';

-- Few runs require labels. Their alarm reads only these.
CREATE INDEX run_queue_labelled ON run_queue (runs_on) WHERE fence IS NULL AND runs_on <> '[]';

CREATE TABLE runtime_drains (
  runtime_id text PRIMARY KEY,
  stream_version bigint NOT NULL,
  drained boolean NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime_drains TO orch_app;
