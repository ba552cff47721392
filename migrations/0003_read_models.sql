-- The read models that commands and simple clients must see at once. Each is written only by its
-- projection, in the transaction of the append, and can be rebuilt from the events. `stream_version`
-- is the last event that a row has seen.

CREATE TABLE scripts (
  script_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  group_id uuid NOT NULL,
  enabled boolean NOT NULL,
  deleted boolean NOT NULL,
  max_concurrent_runs integer NOT NULL,
  storage_quota_bytes bigint NOT NULL,
  entrypoint text NOT NULL,
  limits jsonb NOT NULL,
  tags jsonb NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL
);
CREATE INDEX scripts_by_group ON scripts (group_id, script_id) WHERE NOT deleted;

-- One row for every version of every file: the files of script version v are, per path, the row with
-- the highest version that is at most v.
CREATE TABLE script_files (
  script_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  saved_at timestamptz NOT NULL,
  PRIMARY KEY (script_id, path, version)
);

CREATE TABLE runs (
  run_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  script_id uuid NOT NULL,
  script_name text NOT NULL,
  group_id uuid NOT NULL,
  script_version integer NOT NULL,
  status text NOT NULL,
  stop_requested boolean NOT NULL,
  trigger_type text NOT NULL,
  trigger jsonb NOT NULL,
  requested_by text NOT NULL,
  entrypoint text NOT NULL,
  limits jsonb NOT NULL,
  params_sha256 text,
  attempt integer NOT NULL,
  parent_run_id uuid,
  queued_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  duration_ms bigint,
  exit_code integer,
  signal text,
  failure_reason text,
  runtime_id text,
  fence bigint,
  layers jsonb,
  cpu_seconds double precision,
  max_memory_bytes bigint,
  max_threads integer,
  log_lines bigint NOT NULL,
  log_bytes bigint NOT NULL,
  log_truncated boolean NOT NULL
) WITH (fillfactor = 85); -- every run is written three times
CREATE INDEX runs_by_script ON runs (script_id, run_id DESC);
CREATE INDEX runs_by_group ON runs (group_id, run_id DESC);
CREATE INDEX runs_active ON runs (script_id) WHERE finished_at IS NULL;

CREATE TABLE users (
  user_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  email text NOT NULL UNIQUE,
  name text NOT NULL,
  role text NOT NULL,
  group_ids jsonb NOT NULL,
  can_audit boolean NOT NULL,
  disabled boolean NOT NULL,
  credential_id uuid NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE sessions (
  session_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  user_id uuid NOT NULL,
  refresh_hash text NOT NULL,
  opened_at timestamptz NOT NULL,
  refreshed_at timestamptz NOT NULL,
  closed_at timestamptz
);
CREATE INDEX sessions_by_user ON sessions (user_id, opened_at DESC);

CREATE TABLE groups (
  group_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  name text NOT NULL,
  color text NOT NULL,
  icon text NOT NULL
);

-- Who did what, or tried to: filled behind the append, one row an event, numbered without a gap.
CREATE TABLE audit (
  audit_seq bigint PRIMARY KEY,
  event_id uuid NOT NULL UNIQUE,
  event_position bigint NOT NULL,
  time timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  resource text NOT NULL,
  outcome text NOT NULL,
  detail text,
  ip text,
  correlation_id text NOT NULL,
  causation_id uuid
);

GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE
  ON scripts, script_files, runs, users, sessions, groups, audit TO orch_app;
