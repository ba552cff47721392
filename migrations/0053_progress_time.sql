-- The remaining time of a run is estimated from its last progress report. `reported_at` also changes with an output.
ALTER TABLE run_reports ADD COLUMN progress_at timestamptz;
