-- Webhooks, as hashes of their tokens; how often each may still be called; and which runs need a body.

CREATE TABLE webhooks (
  webhook_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  script_id uuid NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  when_busy text NOT NULL,
  rate_limit_per_minute integer NOT NULL,
  token_hash text NOT NULL,
  created_at timestamptz NOT NULL,
  deleted boolean NOT NULL
);
CREATE INDEX webhooks_by_hash ON webhooks (token_hash) WHERE NOT deleted;
CREATE INDEX webhooks_by_script ON webhooks (script_id, webhook_id DESC) WHERE NOT deleted;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON webhooks TO orch_app;

-- A bucket of calls for each webhook, shared by all backends; no event.
CREATE TABLE webhook_calls (
  webhook_id uuid PRIMARY KEY,
  allowance double precision NOT NULL,
  called_at timestamptz NOT NULL
) WITH (fillfactor = 70);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_calls TO orch_app;

CREATE INDEX runs_by_payload ON runs ((trigger ->> 'payloadSha256'))
  WHERE trigger ->> 'payloadSha256' IS NOT NULL;
