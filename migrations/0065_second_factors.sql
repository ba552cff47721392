-- A second factor for the sign-in with a password: one-time codes (RFC 6238) and recovery codes.

-- The sealed key of the one-time codes and the hashes of the recovery codes; NULL without a second factor.
ALTER TABLE users ADD COLUMN second_factor jsonb;

-- The time step of the last accepted one-time code: each code is accepted once. Not part of the history.
CREATE TABLE one_time_codes (
  user_id uuid PRIMARY KEY,
  last_step bigint NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON one_time_codes TO orch_app;
