-- Secrets of groups, which every script of the group receives, and the time until a value is due for rotation. Rows and
-- events contain ciphertext only. The data keys are in data_keys, under the id of the group.

ALTER TABLE secrets ADD COLUMN rotate_after_days integer;

CREATE TABLE group_secrets (
  group_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  stream_version bigint NOT NULL,
  version integer NOT NULL,
  as_environment boolean NOT NULL,
  rotate_after_days integer,
  -- NULL: the secret or its group was deleted.
  sealed jsonb,
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL,
  PRIMARY KEY (group_id, name)
);

-- The last run of each script that received a secret of its group; written after the append.
CREATE TABLE group_secret_uses (
  group_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  script_id uuid NOT NULL,
  last_used_at timestamptz NOT NULL,
  last_used_by uuid NOT NULL,
  PRIMARY KEY (group_id, name, script_id)
);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON group_secrets, group_secret_uses TO orch_app;
