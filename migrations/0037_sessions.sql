-- A session counts while its account has not ended what was opened before: by another password, or by having
-- been disabled. Those that were opened before this migration say nothing of that, and count no longer.

ALTER TABLE users
  ADD COLUMN access_version bigint NOT NULL DEFAULT 1,
  ADD COLUMN kept_session_id uuid;
ALTER TABLE users ALTER COLUMN access_version DROP DEFAULT;
UPDATE users u SET access_version = (
  SELECT max(e.version) FROM events e WHERE e.stream_id = 'user-' || u.user_id
    AND (e.type IN ('UserCreated', 'UserPasswordChanged')
      OR e.type = 'UserChanged' AND e.data ->> 'disabled' = 'true'));

ALTER TABLE sessions
  ADD COLUMN account_version bigint,
  ADD COLUMN ip text,
  ADD COLUMN user_agent text,
  DROP COLUMN refresh_hash,
  DROP COLUMN refreshed_at;
UPDATE sessions s SET ip = e.metadata ->> 'ip'
  FROM events e WHERE e.stream_id = 'session-' || s.session_id AND e.version = 1;

-- Which refresh token of a session is good. No event: each load of a page trades one.
CREATE TABLE session_tokens (
  session_id uuid PRIMARY KEY,
  -- SHA-256 of the token, lower-case hex.
  current_hash text NOT NULL,
  -- Of the one that was traded for it.
  previous_hash text,
  traded_at timestamptz NOT NULL
);
CREATE INDEX session_tokens_by_age ON session_tokens (traded_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_tokens TO orch_app;
