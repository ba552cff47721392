-- The timeline of a run finds the runs that a run caused: retries, chained runs and runs that its script requested.
CREATE INDEX runs_by_cause ON runs ((trigger ->> 'runId')) WHERE trigger ->> 'runId' IS NOT NULL;
