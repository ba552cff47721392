-- External secret stores, and secrets whose value is in a store. Programs of the previous release cannot decrypt the
-- source of such a secret as a value, so their runs fail with a clear error instead of receiving the source.

CREATE TABLE secret_stores (
  secret_store_id uuid PRIMARY KEY,
  stream_version bigint NOT NULL,
  settings jsonb NOT NULL,
  -- The token or secret id as ciphertext. NULL: files, or the store was deleted.
  sealed jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted boolean NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON secret_stores TO orch_app;

-- NULL: the value itself is sealed.
ALTER TABLE secrets ADD COLUMN source jsonb;
ALTER TABLE group_secrets ADD COLUMN source jsonb;
CREATE INDEX secrets_by_store ON secrets ((source ->> 'storeId')) WHERE source IS NOT NULL;
CREATE INDEX group_secrets_by_store ON group_secrets ((source ->> 'storeId')) WHERE source IS NOT NULL;

-- Programs of the previous release do not know the keys of stores.
CREATE OR REPLACE FUNCTION keep_data_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM group_secrets s JOIN groups g USING (group_id)
      WHERE s.group_id = OLD.script_id AND s.sealed IS NOT NULL)
    OR EXISTS (SELECT FROM users WHERE user_id = OLD.script_id AND second_factor IS NOT NULL)
    OR EXISTS (SELECT FROM identity_providers
      WHERE identity_provider_id = OLD.script_id AND sealed IS NOT NULL)
    OR EXISTS (SELECT FROM repositories WHERE repository_id = OLD.script_id AND NOT deleted)
    OR EXISTS (SELECT FROM secret_stores
      WHERE secret_store_id = OLD.script_id AND sealed IS NOT NULL)
  THEN
    RETURN NULL;
  END IF;
  RETURN OLD;
END $$;
REVOKE EXECUTE ON FUNCTION keep_data_key() FROM PUBLIC;
