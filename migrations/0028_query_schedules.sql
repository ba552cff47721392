-- Queries of scripts see the schedules of their group too.

CREATE VIEW queries.schedules WITH (security_barrier) AS
  SELECT c.schedule_id AS id, c.script_id, s.name AS script_name,
    c.definition ->> 'kind' AS kind,
    c.definition ->> 'cron' AS cron,
    (c.definition ->> 'intervalSeconds')::integer AS interval_seconds,
    c.definition ->> 'timezone' AS timezone,
    (c.definition ->> 'startAt')::timestamptz AS start_at,
    (c.definition ->> 'endAt')::timestamptz AS end_at,
    (c.definition ->> 'enabled')::boolean AS enabled,
    c.definition ->> 'catchUp' AS catch_up,
    (c.definition ->> 'maxLatenessSeconds')::integer AS max_lateness_seconds,
    c.definition ->> 'overlap' AS overlap,
    c.next_fire_at, c.last_fire_at, c.version,
    c.created_at, c.created_by, c.updated_at, c.updated_by
  FROM public.schedules c
    JOIN public.scripts s USING (script_id)
  WHERE NOT c.deleted AND NOT s.deleted AND s.group_id =
    (SELECT group_id FROM queries.scopes WHERE backend_pid = pg_backend_pid());

GRANT SELECT ON queries.schedules TO orch_query;
