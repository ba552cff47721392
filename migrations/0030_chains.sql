-- Chains from script to script, and how each answered to the end of each run: once, by a run or by a reason
-- why there is none.

CREATE TABLE chains (
  chain_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  source_script_id uuid NOT NULL,
  target_script_id uuid NOT NULL,
  condition text NOT NULL,
  enabled boolean NOT NULL,
  when_busy text NOT NULL,
  params_sha256 text,
  -- It answers to what ends from then on.
  active_since timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL,
  deleted boolean NOT NULL
);
CREATE INDEX chains_by_source ON chains (source_script_id, chain_id DESC) WHERE NOT deleted;
CREATE INDEX chains_by_target ON chains (target_script_id, chain_id DESC) WHERE NOT deleted;
-- Parameters that a chain refers to are kept.
CREATE INDEX chains_by_params ON chains (params_sha256) WHERE NOT deleted;

CREATE TABLE chain_answers (
  chain_id uuid NOT NULL,
  source_run_id uuid NOT NULL,
  time timestamptz NOT NULL,
  run_id uuid,
  reason text,
  PRIMARY KEY (chain_id, source_run_id)
);
CREATE INDEX chain_answers_by_run ON chain_answers (source_run_id);

GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON chains, chain_answers TO orch_app;
