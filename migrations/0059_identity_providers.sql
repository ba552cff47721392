-- Users sign in at an identity provider of their organization (OpenID Connect).

CREATE TABLE identity_providers (
  identity_provider_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  slug text NOT NULL,
  settings jsonb NOT NULL,
  sealed jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted boolean NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON identity_providers TO orch_app;

-- The defaults are for programs of the previous release, which do not know the columns.
ALTER TABLE users ADD COLUMN identities jsonb NOT NULL DEFAULT '[]';
CREATE INDEX users_by_identity ON users USING gin (identities jsonb_path_ops);

ALTER TABLE sessions ADD COLUMN identity jsonb;
CREATE INDEX sessions_by_identity ON sessions USING gin (identity jsonb_path_ops)
  WHERE closed_at IS NULL AND identity IS NOT NULL;
