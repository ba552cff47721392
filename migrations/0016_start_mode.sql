-- Whether a run may be executed by an interpreter that is kept for its script, or starts its own.

ALTER TABLE scripts ADD COLUMN start_mode text NOT NULL DEFAULT 'warm';
ALTER TABLE scripts ALTER COLUMN start_mode DROP DEFAULT;
ALTER TABLE runs ADD COLUMN start_mode text NOT NULL DEFAULT 'warm';
ALTER TABLE runs ALTER COLUMN start_mode DROP DEFAULT;
