-- Backups: what is known of each, when they are made by themselves, how far the one being made has come, and
-- which data keys are never to come back.

CREATE TABLE backups (
  backup_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  -- Of one that is whole; NULL before.
  content jsonb,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  finished_at timestamptz,
  -- When all of it was read the last time and was what was written.
  verified_at timestamptz,
  -- Why it failed, or what is wrong with it.
  problem text,
  checking boolean NOT NULL,
  restoring boolean NOT NULL,
  deleted boolean NOT NULL
);
CREATE INDEX backups_to_do ON backups (backup_id) WHERE status = 'running' OR checking OR restoring;

CREATE TABLE backup_schedule (
  singleton boolean PRIMARY KEY CHECK (singleton),
  stream_version bigint NOT NULL,
  cron text,
  timezone text NOT NULL,
  keep integer NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON backups, backup_schedule TO orch_app;

-- Of backups that are being made or read: the share that is done, from 0 to 1.
CREATE TABLE backup_work (
  backup_id uuid PRIMARY KEY,
  share double precision NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON backup_work TO orch_app;

-- Outlives a restore, and what is in it is taken out of every backup that is kept.
CREATE TABLE destroyed_keys (
  key_id uuid PRIMARY KEY,
  destroyed_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON destroyed_keys TO orch_app;

-- A backup says of which schema its rows are.
GRANT SELECT ON schema_migrations TO orch_app;
