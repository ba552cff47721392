-- Git repositories provide scripts and configuration.

CREATE TABLE repositories (
  repository_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  settings jsonb NOT NULL,
  credential jsonb,
  hook jsonb,
  token_hash text,
  commits jsonb NOT NULL,
  provides jsonb NOT NULL,
  changed boolean NOT NULL,
  problem text,
  failed_commit jsonb,
  failed_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted boolean NOT NULL
);
CREATE INDEX repositories_by_token ON repositories (token_hash) WHERE NOT deleted;
GRANT SELECT, INSERT, UPDATE, DELETE ON repositories TO orch_app;

-- When each repository was requested and compared with its server. Not a fact of the history: without these rows, each
-- repository is compared once more.
CREATE TABLE repository_checks (
  repository_id uuid PRIMARY KEY,
  requested_at timestamptz,
  checked_at timestamptz
);
GRANT SELECT, INSERT, UPDATE, DELETE ON repository_checks TO orch_app;

ALTER TABLE scripts ADD COLUMN source jsonb;
ALTER TABLE runs ADD COLUMN commit jsonb;

-- Processes of the previous release must not remove the keys of repositories (see 0066).
CREATE OR REPLACE FUNCTION keep_data_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM group_secrets s JOIN groups g USING (group_id)
      WHERE s.group_id = OLD.script_id AND s.sealed IS NOT NULL)
    OR EXISTS (SELECT FROM users WHERE user_id = OLD.script_id AND second_factor IS NOT NULL)
    OR EXISTS (SELECT FROM identity_providers
      WHERE identity_provider_id = OLD.script_id AND sealed IS NOT NULL)
    OR EXISTS (SELECT FROM repositories WHERE repository_id = OLD.script_id AND NOT deleted)
  THEN
    RETURN NULL;
  END IF;
  RETURN OLD;
END $$;
