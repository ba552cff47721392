-- When a runtime last removed all that it kept for purged scripts: a purge has finished only once every living one has.

ALTER TABLE runtimes ADD COLUMN purged_at timestamptz;
