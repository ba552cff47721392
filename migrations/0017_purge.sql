-- Whether what a deleted script has beside its history is being removed, or gone.

ALTER TABLE scripts ADD COLUMN purge text;
CREATE INDEX scripts_to_purge ON scripts (script_id) WHERE purge = 'started';
