-- Webhooks whose calls are signed: the secret as ciphertext, under a data key of the webhook. `script_id` of
-- such a key is the id of the webhook.

ALTER TABLE webhooks ADD COLUMN signing jsonb;
ALTER TABLE webhooks ADD COLUMN signing_version integer NOT NULL DEFAULT 0;

-- Calls that made no run, the newest of each webhook; no event. Those that made one are found by their runs.
CREATE TABLE webhook_misses (
  delivery_id uuid PRIMARY KEY,
  webhook_id uuid NOT NULL,
  time timestamptz NOT NULL,
  -- Why it was refused; NULL where it was a repetition of the call that made `run_id`.
  code text,
  status integer NOT NULL,
  run_id uuid,
  ip text,
  size_bytes integer,
  -- How many were alike within the minute.
  count integer NOT NULL,
  -- What it was called with, where that may be delivered again.
  payload bytea
);
CREATE INDEX webhook_misses_of ON webhook_misses (webhook_id, delivery_id DESC);
CREATE INDEX webhook_misses_kept ON webhook_misses (time) WHERE payload IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_misses TO orch_app;

CREATE INDEX runs_by_webhook ON runs ((trigger ->> 'webhookId'), run_id DESC)
  WHERE trigger_type = 'webhook';
