-- How often webhooks were called just now is not worth a write to disk for each call: after a crash their
-- buckets are full again.
ALTER TABLE webhook_calls SET UNLOGGED;
