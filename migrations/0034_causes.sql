-- What followed from a run, a schedule or a webhook is found by that: runs, messages, due times. Entries say it
-- beside their hash. The rows of old events are made anew: projection audit, version 3.

TRUNCATE audit, audit_spans, audit_scripts;
ALTER TABLE audit ADD COLUMN caused_by text;
CREATE INDEX audit_by_cause ON audit (caused_by, audit_seq) WHERE caused_by IS NOT NULL;
