-- The application connects as a member of orch_app, which owns nothing: it cannot alter the schema,
-- and each later migration grants it no more than it needs. Roles belong to the whole server, so
-- another database may have made it already, perhaps at this very moment.

DO $$
BEGIN
  CREATE ROLE orch_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END $$;

GRANT USAGE ON SCHEMA public TO orch_app;
