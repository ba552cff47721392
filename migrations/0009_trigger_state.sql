-- Whether anything may start by itself: an administrator holds and releases all triggers at once.

CREATE TABLE trigger_state (
  singleton boolean PRIMARY KEY CHECK (singleton),
  stream_version bigint NOT NULL,
  paused boolean NOT NULL,
  since timestamptz NOT NULL,
  changed_by text NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON trigger_state TO orch_app;
