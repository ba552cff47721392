-- Read-only queries of scripts: as a role that owns one function and sees four views of the script's own
-- group, and nothing else. Whose group that is lies in a table that the role can neither see nor change,
-- under the connection that asks.

DO $$
BEGIN
  CREATE ROLE orch_query NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END $$;

CREATE SCHEMA queries;
GRANT USAGE ON SCHEMA queries TO orch_query, orch_app;

-- Lost with a crash: it is written before every query.
CREATE UNLOGGED TABLE queries.scopes (
  backend_pid integer PRIMARY KEY,
  group_id uuid NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON queries.scopes TO orch_app;

-- Barriers: no condition of a query is asked of a row that is not of the group.
CREATE VIEW queries.scripts WITH (security_barrier) AS
  SELECT s.script_id AS id, s.name, s.description, s.enabled, s.tags, s.version,
    s.max_concurrent_runs, s.created_at, s.created_by, s.updated_at, s.updated_by
  FROM public.scripts s
  WHERE NOT s.deleted AND s.group_id =
    (SELECT group_id FROM queries.scopes WHERE backend_pid = pg_backend_pid());

CREATE VIEW queries.runs WITH (security_barrier) AS
  SELECT r.run_id AS id, r.script_id, r.script_name, r.script_version, r.status, r.trigger_type,
    r.requested_by, r.queued_at, r.started_at, r.finished_at, r.duration_ms, r.exit_code, r.signal,
    r.failure_reason, r.attempt, r.parent_run_id, r.cpu_seconds, r.max_memory_bytes, r.log_lines,
    r.log_bytes
  FROM public.runs r
  WHERE r.group_id =
    (SELECT group_id FROM queries.scopes WHERE backend_pid = pg_backend_pid());

CREATE VIEW queries.run_logs WITH (security_barrier) AS
  SELECT c.run_id, (line ->> 'seq')::bigint AS seq, (line ->> 'time')::timestamptz AS time,
    line ->> 'stream' AS stream, line ->> 'text' AS text
  FROM public.run_log_chunks c
    JOIN public.runs r USING (run_id),
    LATERAL jsonb_array_elements(c.items::jsonb) AS line
  WHERE r.group_id =
    (SELECT group_id FROM queries.scopes WHERE backend_pid = pg_backend_pid());

GRANT SELECT ON queries.scripts, queries.runs, queries.run_logs TO orch_query;

-- As a function of its own role no query can become anybody else, whatever it sets. A cursor takes one
-- statement, and only one that reads.
CREATE FUNCTION queries.run(query text, max_rows integer, max_bytes bigint) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = queries, pg_temp AS $$
DECLARE
  answer refcursor;
  line text;
  lines integer := 0;
  bytes bigint := 0;
BEGIN
  OPEN answer NO SCROLL FOR EXECUTE 'SELECT to_json(q)::text FROM (' || query || E'\n) AS q';
  LOOP
    FETCH answer INTO line;
    EXIT WHEN NOT FOUND;
    lines := lines + 1;
    bytes := bytes + octet_length(line);
    IF lines > max_rows OR bytes > max_bytes THEN
      RAISE EXCEPTION USING ERRCODE = 'program_limit_exceeded',
        MESSAGE = format('the answer has more than %s rows or %s bytes', max_rows, max_bytes);
    END IF;
    RETURN NEXT line;
  END LOOP;
  CLOSE answer;
END $$;

-- Whoever is no superuser has to be of the role to give it something, and it has to be able to make that.
DO $$
DECLARE
  is_super boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
BEGIN
  IF NOT is_super THEN
    GRANT orch_query TO CURRENT_USER;
    GRANT CREATE ON SCHEMA queries TO orch_query;
  END IF;
  ALTER FUNCTION queries.run OWNER TO orch_query;
  IF NOT is_super THEN
    REVOKE CREATE ON SCHEMA queries FROM orch_query;
    REVOKE orch_query FROM CURRENT_USER;
  END IF;
END $$;
REVOKE ALL ON FUNCTION queries.run FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queries.run TO orch_app;

-- Locks, large objects and notifications reach beyond a query. Only a superuser can take them from
-- everybody; where the schema's owner is none, a script may hold a lock for as long as its query runs.
DO $$
DECLARE
  one regprocedure;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN RETURN; END IF;
  FOR one IN
    SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
      AND (proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_' OR proname IN ('loread', 'lowrite', 'pg_notify'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO orch_app', one);
  END LOOP;
END $$;
