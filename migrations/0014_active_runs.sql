-- What is active is asked of the queue, which holds nothing else and whose rows are short: the admission
-- of a run counts the active runs of its script.
CREATE INDEX run_queue_by_script ON run_queue (script_id);
DROP INDEX runs_active;
