-- The inboxes: what the people of a group are told, and what each of them has read.

CREATE TABLE notices (
  notice_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  time timestamptz NOT NULL,
  happening text NOT NULL,
  level text NOT NULL,
  message text NOT NULL,
  script_id uuid NOT NULL,
  group_id uuid NOT NULL,
  run_id uuid
);
CREATE INDEX notices_by_group ON notices (group_id, notice_id DESC);
CREATE INDEX notices_by_script ON notices (script_id, notice_id DESC);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON notices TO orch_app;

-- No event: who has read what changes nothing. A rebuild of the rows above leaves it alone.
CREATE TABLE notice_reads (
  user_id uuid NOT NULL,
  notice_id uuid NOT NULL,
  PRIMARY KEY (user_id, notice_id)
);
CREATE INDEX notice_reads_by_notice ON notice_reads (notice_id);
GRANT SELECT, INSERT, DELETE ON notice_reads TO orch_app;
