-- Failed runs with one error form a group within their group of people. A group is computed from the runs; what somebody
-- decided about it is a row.
ALTER TABLE runs ADD COLUMN error_fingerprint text;
CREATE INDEX runs_by_error_group ON runs ((md5(group_id::text || error_fingerprint)::uuid), run_id DESC)
  WHERE error_fingerprint IS NOT NULL;

CREATE TABLE error_group_states (
  error_group_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  status text NOT NULL,
  resolved_in_version integer,
  ignored_until timestamptz,
  changed_at timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON error_group_states TO orch_app;
