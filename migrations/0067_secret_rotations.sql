-- Secrets that are due for rotation, by owner. The scheduler records each due value once.

CREATE TABLE due_rotations (
  owner_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  -- script or group
  owner_kind text NOT NULL,
  due jsonb NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON due_rotations TO orch_app;
