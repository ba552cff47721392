-- Approvals: runs of protected scripts wait until a second person has decided. The defaults are for programs of the
-- previous release and for existing scripts and runs.

CREATE TABLE approvals (
  approval_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  kind text NOT NULL,
  script_id uuid NOT NULL,
  script_name text NOT NULL,
  script_version integer NOT NULL,
  -- NULL: the requester is unknown.
  requester_id uuid,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  status text NOT NULL,
  -- NULL: pending, or ended without a decision.
  decider_id uuid,
  decided_by text,
  decided_at timestamptz
);
CREATE INDEX approvals_pending ON approvals (expires_at) WHERE status = 'pending';
CREATE INDEX approvals_by_script ON approvals (script_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON approvals TO orch_app;

ALTER TABLE scripts ADD COLUMN protected jsonb NOT NULL DEFAULT '{"run": false, "save": false}';
-- Whether a second person must still approve the run.
ALTER TABLE run_queue ADD COLUMN approval_pending boolean NOT NULL DEFAULT false;
