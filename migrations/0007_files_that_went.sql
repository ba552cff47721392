-- A file can be deleted and moved: from then on it has a version without content, so that the files of
-- every earlier version stay what they were.
ALTER TABLE script_files ALTER COLUMN sha256 DROP NOT NULL;
