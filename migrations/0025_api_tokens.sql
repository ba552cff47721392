-- API tokens, as hashes alone: what a request with one is looked up in.

CREATE TABLE api_tokens (
  token_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  scopes jsonb NOT NULL,
  token_hash text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Written by backends, seldom and together: no event, and no write for each request.
  last_used_at timestamptz
);
CREATE INDEX api_tokens_by_hash ON api_tokens (token_hash);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id, token_id DESC);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON api_tokens TO orch_app;
