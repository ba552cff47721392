-- During a rolling update, processes of the previous release remove data keys that they consider unused. They do not
-- know the secrets of groups, second factors and identity providers, whose keys must survive.

CREATE FUNCTION keep_data_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM group_secrets s JOIN groups g USING (group_id)
      WHERE s.group_id = OLD.script_id AND s.sealed IS NOT NULL)
    OR EXISTS (SELECT FROM users WHERE user_id = OLD.script_id AND second_factor IS NOT NULL)
    OR EXISTS (SELECT FROM identity_providers
      WHERE identity_provider_id = OLD.script_id AND sealed IS NOT NULL)
  THEN
    RETURN NULL;
  END IF;
  RETURN OLD;
END $$;

-- Queries of scripts may call listed functions only.
REVOKE EXECUTE ON FUNCTION keep_data_key() FROM PUBLIC;

CREATE TRIGGER data_keys_in_use_stay BEFORE DELETE ON data_keys
  FOR EACH ROW EXECUTE FUNCTION keep_data_key();
