-- Which run was given a secret last. The rows of old events are made anew: projection secret_uses, version 2.

TRUNCATE secret_uses;
ALTER TABLE secret_uses ADD COLUMN last_used_by uuid NOT NULL;
