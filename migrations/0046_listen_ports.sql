-- The TCP ports that the runs of a script may listen on.

ALTER TABLE scripts ADD COLUMN listen_ports jsonb NOT NULL DEFAULT '[]';
ALTER TABLE scripts ALTER COLUMN listen_ports DROP DEFAULT;
ALTER TABLE runs ADD COLUMN listen_ports jsonb NOT NULL DEFAULT '[]';
ALTER TABLE runs ALTER COLUMN listen_ports DROP DEFAULT;
