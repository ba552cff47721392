-- A script's active runs are counted at each admission and each round of those that wait, of whom there may be
-- many more.

CREATE INDEX run_queue_active ON run_queue (script_id) WHERE NOT waiting;
