-- Scripts can write stderr to stdout, because two pipes have no common order. The default is for programs of the
-- previous release.
ALTER TABLE scripts ADD COLUMN merge_stderr boolean NOT NULL DEFAULT false;
