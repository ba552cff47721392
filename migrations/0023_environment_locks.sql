-- What was chosen for the requirements of a script's version, by what its runs are to be given the same
-- again. The first to choose wins, for each kind of interpreter and machine.

CREATE TABLE environment_locks (
  script_id uuid NOT NULL,
  script_version integer NOT NULL,
  target text NOT NULL,
  lock text NOT NULL,
  locked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (script_id, script_version, target)
);
GRANT SELECT, INSERT, DELETE ON environment_locks TO orch_app;
