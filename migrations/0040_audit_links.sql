-- The audit chain is made faster, hash by hash as before. The running hash was a function of SQL that was begun anew
-- for each entry; now one call takes the entries of a step in their order.

DROP AGGREGATE audit_chain (text, text, text);
DROP FUNCTION audit_link (text, text, text, text);
DROP FUNCTION audit_event_hash (text, bigint, uuid, text, integer, timestamptz, jsonb, jsonb);

-- Hashes of entries that follow `before`. An entry is hashed as canonical JSON, of which `heads` are what comes
-- before the hash of the entry before it, and `tails` what comes behind that.
CREATE FUNCTION audit_links(before text, heads text[], tails text[])
RETURNS text[] IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
DECLARE
  hash text := before;
  head text;
  place integer := 0;
  hashes text[];
BEGIN
  FOREACH head IN ARRAY coalesce(heads, '{}') LOOP
    place := place + 1;
    hash := encode(sha256(convert_to(head || hash || tails[place], 'UTF8')), 'hex');
    hashes[place] := hash;
  END LOOP;
  RETURN hashes;
END $$;
