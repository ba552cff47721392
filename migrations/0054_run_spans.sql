-- The spans that a script records. They hold text of the script, so they are stored outside the events and are removed with
-- the other reports of the run.
CREATE SEQUENCE run_span_revisions;
CREATE TABLE run_spans (
  run_id uuid NOT NULL,
  span_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  name text NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  failed boolean NOT NULL,
  -- JSON; jsonb does not store every text.
  attributes text NOT NULL,
  -- Grows with every change, so that readers find the changed spans.
  revision bigint NOT NULL DEFAULT nextval('run_span_revisions'),
  PRIMARY KEY (run_id, span_id)
) WITH (fillfactor = 70); -- updated at the end of a span
GRANT SELECT, INSERT, UPDATE, DELETE ON run_spans TO orch_app;
GRANT USAGE ON run_span_revisions TO orch_app;
