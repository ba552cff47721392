-- The settings of a script's resident processes (start mode `resident`), as in `ScriptSettings`.

ALTER TABLE scripts ADD COLUMN resident jsonb NOT NULL
  DEFAULT '{"idle_seconds": 600, "max_runs": 1000, "processes": 1}';
ALTER TABLE scripts ALTER COLUMN resident DROP DEFAULT;
