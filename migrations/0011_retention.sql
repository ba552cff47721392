-- How long what hangs on runs is kept, and how far its removal has come. Events stay for ever.

CREATE TABLE retention (
  singleton boolean PRIMARY KEY CHECK (singleton),
  stream_version bigint NOT NULL,
  logs_days integer,
  samples_days integer,
  artifacts_days integer,
  payloads_days integer,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON retention TO orch_app;

-- Everything of the kind is gone of every run up to this one, in the order of their ids, which is that of
-- time: an index by the ends of runs would cost each run more than this. It only ever moves on, also when
-- things are to be kept longer than before.
CREATE TABLE retention_progress (
  kind text PRIMARY KEY,
  run_id uuid NOT NULL
);
-- But for those that had not ended for long enough when they were passed.
CREATE TABLE retention_later (
  kind text NOT NULL,
  run_id uuid NOT NULL,
  PRIMARY KEY (kind, run_id)
);
GRANT SELECT, INSERT, UPDATE ON retention_progress TO orch_app;
GRANT SELECT, INSERT, DELETE ON retention_later TO orch_app;

-- Whether a run still needs a payload.
CREATE INDEX runs_by_params ON runs (params_sha256) WHERE params_sha256 IS NOT NULL;

-- When somebody last asked for it to be kept: what was wanted just now is not removed, though no run
-- names it yet.
ALTER TABLE payloads RENAME COLUMN created_at TO wanted_at;
CREATE INDEX payloads_by_age ON payloads (wanted_at);
