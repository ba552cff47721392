-- Groups share the runtimes: a flood of runs of one group must not delay the runs of other groups until it is over.

-- The default is for programs of the previous release, which do not know the column: their runs form one group.
ALTER TABLE run_queue
  ADD COLUMN group_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
UPDATE run_queue q SET group_id = r.group_id FROM runs r WHERE r.run_id = q.run_id;

-- Runs of one group with the same labels form a lane. A claim reads the first runs of each lane that it may take, and no
-- others.
CREATE INDEX run_queue_lanes ON run_queue (group_id, runs_on, priority DESC, queue_position)
  WHERE fence IS NULL AND NOT waiting;
CREATE INDEX run_queue_claimed ON run_queue (group_id) WHERE owner IS NOT NULL;

-- Programs that claim in place of a runtime have no labels, and take runs in the order of acceptance.
DROP INDEX run_queue_ready;
CREATE INDEX run_queue_ready ON run_queue (priority DESC, queue_position)
  WHERE fence IS NULL AND NOT waiting AND runs_on = '[]';

-- Locks the next runs for a runtime: by priority, then in turns of the groups, then by acceptance. The turn of a run is
-- the number of runs of its group that are active or before it. A function, because its plans are cached: planning takes
-- longer than the claim. The plans must not depend on the length of the queue at the time of planning.
CREATE FUNCTION lock_next_runs(p_owner text, p_limit integer, p_labels jsonb)
RETURNS SETOF uuid LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  lane_groups uuid[];
  lane_labels jsonb[];
BEGIN
  IF EXISTS (SELECT FROM runtime_drains d WHERE d.runtime_id = p_owner AND d.drained) THEN RETURN; END IF;
  WITH RECURSIVE lanes AS (
    (SELECT q.group_id, q.runs_on FROM run_queue q WHERE q.fence IS NULL AND NOT q.waiting
      ORDER BY q.group_id, q.runs_on LIMIT 1)
    UNION ALL
    SELECT following.group_id, following.runs_on FROM lanes CROSS JOIN LATERAL (
      SELECT q.group_id, q.runs_on FROM run_queue q WHERE q.fence IS NULL AND NOT q.waiting
        AND (q.group_id, q.runs_on) > (lanes.group_id, lanes.runs_on)
      ORDER BY q.group_id, q.runs_on LIMIT 1) following
  )
  SELECT array_agg(lanes.group_id), array_agg(lanes.runs_on) INTO lane_groups, lane_labels
  FROM lanes WHERE lanes.runs_on <@ p_labels;

  -- A single lane has nothing to share.
  IF cardinality(lane_groups) = 1 THEN
    RETURN QUERY SELECT q.run_id FROM run_queue q
      WHERE q.group_id = lane_groups[1] AND q.runs_on = lane_labels[1]
        AND q.fence IS NULL AND NOT q.waiting AND (q.lease_until IS NULL OR q.lease_until < now())
      ORDER BY q.priority DESC, q.queue_position LIMIT p_limit FOR UPDATE SKIP LOCKED;
    RETURN;
  END IF;

  RETURN QUERY
  WITH active AS (
    SELECT q.group_id, count(*) AS runs FROM run_queue q
    WHERE q.owner IS NOT NULL AND q.lease_until > now() GROUP BY q.group_id
  ), candidates AS MATERIALIZED (
    SELECT first.run_id, first.priority, first.queue_position, coalesce(active.runs, 0)
        + row_number() OVER (PARTITION BY lanes.group_id ORDER BY first.priority DESC, first.queue_position)
        AS turn
    FROM unnest(lane_groups, lane_labels) AS lanes (group_id, runs_on)
    LEFT JOIN active USING (group_id) CROSS JOIN LATERAL (
      SELECT q.run_id, q.priority, q.queue_position FROM run_queue q
      WHERE q.group_id = lanes.group_id AND q.runs_on = lanes.runs_on
        AND q.fence IS NULL AND NOT q.waiting AND (q.lease_until IS NULL OR q.lease_until < now())
      ORDER BY q.priority DESC, q.queue_position
      -- Some may be locked by other claims at the moment.
      LIMIT p_limit + 16) first
  )
  SELECT locked.run_id
  FROM (SELECT c.run_id FROM candidates c ORDER BY c.priority DESC, c.turn, c.queue_position) AS ordered
  CROSS JOIN LATERAL (
    SELECT q.run_id FROM run_queue q WHERE q.run_id = ordered.run_id
      AND q.fence IS NULL AND NOT q.waiting AND (q.lease_until IS NULL OR q.lease_until < now())
    FOR UPDATE SKIP LOCKED) AS locked
  LIMIT p_limit;
END $$;
REVOKE EXECUTE ON FUNCTION lock_next_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_next_runs TO orch_app;
