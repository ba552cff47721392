-- What scripts give to the platform while they run, by its Python package: what a run says of itself, and
-- what a script keeps from run to run. No events: it may hold personal data, and changes often.

CREATE TABLE run_reports (
  run_id uuid PRIMARY KEY,
  -- JSON as it was given; jsonb would not keep all of it.
  output text,
  progress double precision,
  progress_text text,
  reported_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70); -- written anew while the run goes on

CREATE TABLE script_state (
  script_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  -- JSON.
  value text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (script_id, key)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON run_reports, script_state TO orch_app;
