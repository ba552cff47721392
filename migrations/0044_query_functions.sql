-- A query of a script may call the functions that are listed here, read the four views, and nothing else.
-- Postgres gives every role the right to call nearly all of its functions and to read its catalogs. The only way to
-- withhold that from one role is to take it from PUBLIC: the others receive it by the role orch_catalog.

DO $$
BEGIN
  CREATE ROLE orch_catalog NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END $$;

CREATE VIEW queries.allowed_functions AS
  WITH ordinary (type) AS (
    SELECT t.oid FROM pg_type t
    WHERE t.typnamespace = 'pg_catalog'::regnamespace AND ltrim(t.typname, '_') IN (
      'bool', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar', 'bpchar', 'bytea', 'bit', 'varbit',
      'uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'json', 'jsonb', 'jsonpath',
      'int4range', 'int8range', 'numrange', 'daterange', 'tsrange', 'tstzrange', 'int4multirange', 'int8multirange',
      'nummultirange', 'datemultirange', 'tsmultirange', 'tstzmultirange', 'record', 'any', 'anyelement', 'anyarray',
      'anynonarray', 'anyrange', 'anymultirange', 'anycompatible', 'anycompatiblearray', 'anycompatiblenonarray',
      'anycompatiblerange', 'anycompatiblemultirange')
  ), named (name) AS (
    SELECT unnest(string_to_array(regexp_replace(btrim($names$
      any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every json_agg
      json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg
      jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict max
      min mode percentile_cont percentile_disc range_agg range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept
      regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance
      cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number

      abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees
      div erf erfc exp factorial floor gcd lcm ln log log10 min_scale mod pi pow power radians random random_normal round
      scale sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket

      ascii bit_count bit_length btrim casefold char_length character_length chr concat concat_ws convert_from crc32 crc32c
      decode encode format get_bit get_byte initcap is_normalized left length like_escape lower lpad ltrim md5 normalize
      octet_length overlay position quote_ident quote_literal quote_nullable regexp_count regexp_instr regexp_like
      regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace
      reverse right rpad rtrim sha224 sha256 sha384 sha512 similar_to_escape split_part starts_with string_to_array
      string_to_table strpos substr substring to_bin to_hex to_oct translate unistr upper

      age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours
      justify_interval make_date make_interval make_time make_timestamp make_timestamptz now overlaps statement_timestamp
      timezone to_char to_date to_number to_timestamp transaction_timestamp

      array_to_json json_array_elements json_array_elements_text json_array_length json_build_array json_build_object
      json_each json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_strip_nulls
      json_to_record json_to_recordset json_typeof jsonb_array_elements jsonb_array_elements_text jsonb_array_length
      jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text
      jsonb_insert jsonb_object jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match
      jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
      jsonb_path_query_first_tz jsonb_path_query_tz jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls
      jsonb_to_record jsonb_to_recordset jsonb_typeof row_to_json to_json to_jsonb

      array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions
      array_prepend array_remove array_replace array_reverse array_sort array_to_string array_upper cardinality
      generate_series generate_subscripts trim_array unnest

      datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc lower_inf multirange
      nummultirange numrange range_merge tsmultirange tsrange tstzmultirange tstzrange upper_inc upper_inf

      gen_random_uuid num_nonnulls num_nulls uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
    $names$), '\s+', ' ', 'g'), ' '))
  )
  SELECT p.oid FROM pg_proc p
  WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND (p.proname IN (SELECT name FROM named)
      -- What stands behind operators, casts, and comparisons such as those of IN.
      OR p.oid IN (SELECT oprcode FROM pg_operator)
      OR p.oid IN (SELECT castfunc FROM pg_cast)
      OR p.oid IN (SELECT s.amproc FROM pg_amproc s
        JOIN pg_opfamily f ON f.oid = s.amprocfamily JOIN pg_am a ON a.oid = f.opfmethod
        WHERE a.amname IN ('btree', 'hash')))
    AND p.prorettype IN (SELECT type FROM ordinary)
    AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) AS argument (type)
      WHERE argument.type NOT IN (SELECT type FROM ordinary))
  UNION
  -- Casts from and to text.
  SELECT unnest(ARRAY[t.typinput, t.typoutput]) FROM pg_type t
  WHERE t.oid IN (SELECT type FROM ordinary) AND (t.typtype <> 'p' OR t.typname = 'record')
  UNION
  -- By it the views know whose they are.
  SELECT 'pg_catalog.pg_backend_pid()'::regprocedure::oid;

-- What a query can use beyond that: nothing, once queries.confine has been called by a superuser.
CREATE VIEW queries.gaps AS
  SELECT 'function ' || p.oid::regprocedure AS what FROM pg_proc p
  WHERE has_function_privilege('orch_query', p.oid, 'EXECUTE')
    AND p.oid NOT IN (SELECT oid FROM queries.allowed_functions)
  UNION ALL
  SELECT 'relation ' || c.oid::regclass FROM pg_class c
  WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')
    AND (has_table_privilege('orch_query', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
      OR has_any_column_privilege('orch_query', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
    -- By name: a rebuild replaces the views, which nothing may depend on.
    AND NOT (c.relnamespace = 'queries'::regnamespace AND c.relname IN ('scripts', 'schedules', 'runs', 'run_logs'))
  UNION ALL
  SELECT 'parameter ' || name FROM unnest(ARRAY['log_min_messages', 'log_min_error_statement', 'temp_file_limit']) AS name
  WHERE NOT has_parameter_privilege('orch_app', name, 'SET');

-- Takes from PUBLIC what is not listed, and gives it to orch_catalog; lets the services keep the text of queries out of
-- the server's log. To be called after each change of the schema or the server, of which new functions are open to all.
CREATE FUNCTION queries.confine() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  owner regrole := (SELECT nspowner FROM pg_namespace WHERE nspname = 'queries');
  list text;
  privilege text;
BEGIN
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO list FROM pg_proc p
  WHERE p.oid NOT IN (SELECT oid FROM queries.allowed_functions)
    AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) WHERE grantee = 0);
  IF list IS NOT NULL THEN
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO orch_catalog', list);
    EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', list);
  END IF;
  FOR list, privilege IN
    SELECT string_agg(c.oid::regclass::text, ', '), a.privilege_type
    FROM pg_class c, aclexplode(c.relacl) AS a WHERE a.grantee = 0 AND c.relkind <> 'S' GROUP BY a.privilege_type
  LOOP
    EXECUTE format('GRANT %s ON %s TO orch_catalog', privilege, list);
    EXECUTE format('REVOKE %s ON %s FROM PUBLIC', privilege, list);
  END LOOP;
  FOR list, privilege IN
    SELECT format('%s (%I) ON %s', a.privilege_type, t.attname, t.attrelid::regclass), a.privilege_type
    FROM pg_attribute t, aclexplode(t.attacl) AS a WHERE a.grantee = 0
  LOOP
    EXECUTE format('GRANT %s TO orch_catalog', list);
    EXECUTE format('REVOKE %s FROM PUBLIC', list);
  END LOOP;
  IF NOT pg_has_role('orch_app', 'orch_catalog', 'USAGE') THEN GRANT orch_catalog TO orch_app; END IF;
  IF NOT pg_has_role(owner, 'orch_catalog', 'USAGE') THEN EXECUTE format('GRANT orch_catalog TO %s', owner); END IF;
  IF NOT has_parameter_privilege('orch_app', 'temp_file_limit', 'SET') THEN
    GRANT SET ON PARAMETER log_min_messages, log_min_error_statement, temp_file_limit TO orch_app;
  END IF;
END $$;

-- The reverse, for pg_upgrade: a right to a function that the next version lacks would end it.
CREATE FUNCTION queries.release() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  list text;
  privilege text;
BEGIN
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO list FROM pg_proc p, aclexplode(p.proacl) AS a
  WHERE a.grantee = 'orch_catalog'::regrole;
  IF list IS NOT NULL THEN
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', list);
    EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM orch_catalog', list);
  END IF;
  FOR list, privilege IN
    SELECT string_agg(c.oid::regclass::text, ', '), a.privilege_type
    FROM pg_class c, aclexplode(c.relacl) AS a WHERE a.grantee = 'orch_catalog'::regrole GROUP BY a.privilege_type
  LOOP
    EXECUTE format('GRANT %s ON %s TO PUBLIC', privilege, list);
    EXECUTE format('REVOKE %s ON %s FROM orch_catalog', privilege, list);
  END LOOP;
  FOR list IN
    SELECT format('%s (%I) ON %s', a.privilege_type, t.attname, t.attrelid::regclass)
    FROM pg_attribute t, aclexplode(t.attacl) AS a WHERE a.grantee = 'orch_catalog'::regrole
  LOOP
    EXECUTE format('GRANT %s TO PUBLIC', list);
    EXECUTE format('REVOKE %s FROM orch_catalog', list);
  END LOOP;
END $$;

REVOKE ALL ON FUNCTION queries.confine, queries.release FROM PUBLIC;
GRANT SELECT ON queries.gaps TO orch_app;
-- Its owner may call it too, from within a query.
REVOKE ALL ON FUNCTION queries.run FROM orch_query;

DO $$
BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN PERFORM queries.confine(); END IF;
END $$;
