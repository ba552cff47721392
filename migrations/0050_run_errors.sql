-- What went wrong in a run: type, message and frames of its exception. It has text of the script, so it is kept apart from
-- the events, and is removed when the script is purged.
ALTER TABLE run_reports ADD COLUMN error jsonb;
