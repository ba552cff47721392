-- Secrets of scripts. Their rows, as their events, hold ciphertext alone; the data keys that open it are
-- beside the history and never in it, so that destroying a script's key makes every copy unreadable.

CREATE TABLE secrets (
  script_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  stream_version bigint NOT NULL,
  -- Of the secret; goes on counting where one is deleted and set again.
  version integer NOT NULL,
  as_environment boolean NOT NULL,
  -- Key id, nonce and ciphertext; NULL where the secret was deleted.
  sealed jsonb,
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL,
  PRIMARY KEY (script_id, name)
);

-- When a run last read which secret; written behind the append.
CREATE TABLE secret_uses (
  script_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (script_id, name)
);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON secrets, secret_uses TO orch_app;

-- Data keys, wrapped by the master key, one a script. A rebuild of the rows above leaves them alone.
CREATE TABLE data_keys (
  key_id uuid PRIMARY KEY,
  script_id uuid NOT NULL UNIQUE,
  -- Names the master key without telling anything of it.
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON data_keys TO orch_app;
