-- Channels and rules by which people are told, and the deliveries.

CREATE TABLE notification_channels (
  channel_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  config jsonb NOT NULL,
  -- Key id, nonce and ciphertext of what must not be known of it.
  sealed jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted boolean NOT NULL
);

CREATE TABLE notification_rules (
  rule_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  settings jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE deliveries (
  delivery_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  channel_id uuid NOT NULL,
  rule_id uuid,
  told jsonb NOT NULL,
  status text NOT NULL,
  attempts integer NOT NULL,
  last_error text,
  queued_at timestamptz NOT NULL,
  -- NULL once it has ended.
  next_attempt_at timestamptz,
  ended_at timestamptz,
  -- Who sends it until when, and at which attempt; no event, and kept by a rebuild.
  leased_until timestamptz,
  leased_attempts integer
);
CREATE INDEX deliveries_due ON deliveries (channel_id, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL;
CREATE INDEX deliveries_by_channel ON deliveries (channel_id, delivery_id DESC);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE
  ON notification_channels, notification_rules, deliveries TO orch_app;
