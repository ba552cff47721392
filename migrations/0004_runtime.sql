-- What runs need besides their history: the queue with its leases, their logs, and what is too secret
-- or too large for events.

-- The truth about waiting and running work, in every edition. Rows come and go with the run's events;
-- the lease belongs to whoever claimed the row.
CREATE TABLE run_queue (
  run_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  script_id uuid NOT NULL,
  priority integer NOT NULL,
  available_at timestamptz NOT NULL,
  attempt integer NOT NULL,
  -- Version of the run's stream at its start; NULL while it waits.
  fence bigint,
  stop_requested boolean NOT NULL,
  owner text,
  lease_until timestamptz
) WITH (fillfactor = 70); -- leases are renewed often: room for heap-only updates
CREATE INDEX run_queue_waiting ON run_queue (priority DESC, available_at, run_id)
  WHERE fence IS NULL;

CREATE TABLE run_log_chunks (
  run_id uuid NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  bytes integer NOT NULL,
  -- JSON array text, as the WebSocket sends it: encoded once, never taken apart on the way.
  items text NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, first_seq)
);

-- Parameters of runs by hash: events carry the hash, so that personal data can be purged.
CREATE TABLE payloads (
  sha256 text PRIMARY KEY,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Password hashes, outside the events so that an old one can be destroyed.
CREATE TABLE credentials (
  credential_id uuid PRIMARY KEY,
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The exact answers to requests that carried an Idempotency-Key.
CREATE TABLE idempotency_answers (
  command_id uuid PRIMARY KEY,
  fingerprint text NOT NULL,
  status integer NOT NULL,
  headers jsonb NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_answers_by_age ON idempotency_answers (created_at);

-- Failed sign-ins per account and per address, in windows that start with the first failure.
CREATE TABLE login_failures (
  subject text PRIMARY KEY,
  failures integer NOT NULL,
  window_ends_at timestamptz NOT NULL
);

-- Runtimes that are alive, for people to see.
CREATE TABLE runtimes (
  runtime_id text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  slots integer NOT NULL,
  running integer NOT NULL,
  layers jsonb NOT NULL,
  python text
);

GRANT SELECT, INSERT, UPDATE, DELETE ON run_queue, run_log_chunks, payloads, credentials,
  idempotency_answers, login_failures, runtimes TO orch_app;
