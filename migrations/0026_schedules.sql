-- Schedules, and what became of each of their due times: written with the events that say so, so that the
-- next due time is never one that has ended already.

CREATE TABLE schedules (
  schedule_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  script_id uuid NOT NULL,
  -- All that its author said of it.
  definition jsonb NOT NULL,
  params_sha256 text,
  version integer NOT NULL,
  deleted boolean NOT NULL,
  -- Due times after this follow from the definition; those before ended under an earlier one.
  counted_from timestamptz NOT NULL,
  -- The last due time that has ended.
  settled_until timestamptz,
  next_fire_at timestamptz,
  last_fire_at timestamptz,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL
) WITH (fillfactor = 70);

-- What the scheduler looks for.
CREATE INDEX schedules_due ON schedules (next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX schedules_of_script ON schedules (script_id);
-- Parameters that a schedule refers to are kept.
CREATE INDEX schedules_by_params ON schedules (params_sha256) WHERE NOT deleted;

CREATE TABLE schedule_occurrences (
  schedule_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  outcome text NOT NULL,
  reason text,
  run_id uuid,
  PRIMARY KEY (schedule_id, due_at)
);

GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON schedules, schedule_occurrences TO orch_app;
