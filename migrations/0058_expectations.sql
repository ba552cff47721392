-- Expectations of scripts, as in `ScriptSettings`, and the missed ones. Few scripts have expectations, and the
-- scheduler reads only these. The default is for programs of the previous release.

ALTER TABLE scripts ADD COLUMN expectations jsonb NOT NULL DEFAULT '[]';
ALTER TABLE scripts ADD COLUMN expectations_since timestamptz;

CREATE TABLE missed_expectations (
  script_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  missed jsonb NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON missed_expectations TO orch_app;
