-- Lists of runs cost the same whatever they are narrowed to, however rare that is and however long the
-- history. The indexes by status hold runs that have ended: what is active is in the queue, which is
-- short. `ended_as` is the status from then on and nothing before, so that the start of a run, which
-- changes no index, stays cheap.

ALTER TABLE runs ADD COLUMN ended_as text;
UPDATE runs SET ended_as = status WHERE finished_at IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended_as, trigger_type, run_id) WHERE ended_as IS NOT NULL;
CREATE INDEX runs_ended_by_group ON runs (group_id, ended_as, trigger_type, run_id)
  WHERE ended_as IS NOT NULL;
CREATE INDEX runs_ended_by_script ON runs (script_id, ended_as, trigger_type, run_id)
  WHERE ended_as IS NOT NULL;

-- Scripts by a part of their name.
CREATE SCHEMA search;
CREATE EXTENSION pg_trgm SCHEMA search;
CREATE INDEX scripts_by_name ON scripts USING gin (lower(name) search.gin_trgm_ops);
