-- A session's cookie reaches every port of the host, so it is worth nothing without a key that only the pages of
-- this origin have. Sessions opened before this migration have none and cannot be renewed: their users sign in again.

DELETE FROM session_tokens;
-- SHA-256 of the key, lower-case hex. Null: opened by a process of an older version, and never renewed.
ALTER TABLE session_tokens ADD COLUMN key_hash text;
