-- Passkeys (WebAuthn) as a second factor: challenges that a browser has to sign.

-- Each is used once, for one account and purpose. Not part of the history.
CREATE TABLE passkey_challenges (
  challenge text PRIMARY KEY,
  user_id uuid NOT NULL,
  purpose text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_user ON passkey_challenges (user_id, expires_at);
CREATE INDEX passkey_challenges_expired ON passkey_challenges (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON passkey_challenges TO orch_app;
