-- Exception calendars of schedules. Recurring events are expanded, so that a due time is compared with few periods.

CREATE TABLE calendars (
  calendar_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  name text NOT NULL,
  periods jsonb NOT NULL,
  covered_until timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON calendars TO orch_app;

CREATE INDEX schedules_calendar ON schedules ((definition ->> 'calendarId'))
  WHERE definition ? 'calendarId' AND NOT deleted;
