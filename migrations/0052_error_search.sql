-- Lists of runs search the type and message of errors.
CREATE INDEX run_reports_by_error ON run_reports
  USING gin (lower((error ->> 'type') || ': ' || (error ->> 'message')) search.gin_trgm_ops)
  WHERE error IS NOT NULL;
