-- One list for the two layers that bound queries of scripts: the database grants the functions, and the check of
-- a query's syntax in the runtime reads the names of functions, types and operators here.

CREATE VIEW queries.listed_types AS
  SELECT t.oid, t.typname AS name, t.typtype = 'p' AS is_pseudo FROM pg_type t
  WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typname IN (
    SELECT unnest(string_to_array(btrim(regexp_replace($types$
      bool int2 int4 int8 float4 float8 numeric text varchar bpchar bytea bit varbit uuid
      date time timetz timestamp timestamptz interval json jsonb jsonpath
      int4range int8range numrange daterange tsrange tstzrange
      int4multirange int8multirange nummultirange datemultirange tsmultirange tstzmultirange
    $types$, '\s+', ' ', 'g')), ' '))
    UNION ALL
    -- No query can name these: they stand in the signatures of functions.
    SELECT unnest(ARRAY['record', 'any', 'anyelement', 'anyarray', 'anynonarray', 'anyrange', 'anymultirange',
      'anycompatible', 'anycompatiblearray', 'anycompatiblenonarray', 'anycompatiblerange', 'anycompatiblemultirange']));

CREATE VIEW queries.listed_functions AS
  SELECT unnest(string_to_array(btrim(regexp_replace($names$
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
    decode encode format get_bit get_byte initcap left length like_escape lower lpad ltrim md5
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
  $names$, '\s+', ' ', 'g')), ' ')) AS name;

CREATE OR REPLACE VIEW queries.allowed_functions AS
  WITH ordinary (type) AS (
    SELECT oid FROM queries.listed_types
    UNION ALL
    SELECT t.typarray FROM pg_type t JOIN queries.listed_types USING (oid) WHERE t.typarray <> 0
  )
  SELECT p.oid FROM pg_proc p
  WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND (p.proname IN (SELECT name FROM queries.listed_functions)
      -- What stands behind operators, casts, and comparisons such as those of IN.
      OR p.oid IN (SELECT oprcode FROM pg_operator)
      OR p.oid IN (SELECT castfunc FROM pg_cast)
      OR p.oid IN (SELECT s.amproc FROM pg_amproc s
        JOIN pg_opfamily f ON f.oid = s.amprocfamily JOIN pg_am a ON a.oid = f.opfmethod
        WHERE a.amname IN ('btree', 'hash')))
    AND p.prorettype IN (SELECT type FROM ordinary)
    AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) AS argument (type)
      WHERE argument.type NOT IN (SELECT type FROM ordinary))
    -- Text search, by two texts.
    AND p.proname NOT IN ('ts_match_tt', 'ts_match_tq')
  UNION
  -- Casts from and to text.
  SELECT unnest(ARRAY[t.typinput, t.typoutput]) FROM pg_type t
  WHERE t.oid IN (SELECT type FROM ordinary) AND (t.typtype <> 'p' OR t.typname = 'record')
  UNION
  -- The name of an encoding is of a type that is not listed.
  SELECT 'pg_catalog.convert_from(bytea, name)'::regprocedure::oid
  UNION
  -- By it the views know whose they are.
  SELECT 'pg_catalog.pg_backend_pid()'::regprocedure::oid;

-- What the syntax of a query may name.
CREATE VIEW queries.syntax AS
  SELECT 'function' AS kind, name FROM queries.listed_functions
  UNION ALL
  SELECT 'type', name FROM queries.listed_types WHERE NOT is_pseudo
  UNION ALL
  SELECT DISTINCT 'operator', oprname FROM pg_operator
  WHERE oprcode IN (SELECT oid FROM queries.allowed_functions)
  UNION ALL
  SELECT 'relation', unnest(ARRAY['scripts', 'schedules', 'runs', 'run_logs'])
  UNION ALL
  -- "g.regclass" casts g, where g has no such column.
  SELECT DISTINCT 'cast', t.typname FROM pg_type t
  WHERE t.typnamespace IN ('pg_catalog'::regnamespace, 'queries'::regnamespace)
    AND t.oid NOT IN (SELECT oid FROM queries.listed_types)
    AND t.typname NOT IN (SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'queries'::regnamespace AND c.relname IN ('scripts', 'schedules', 'runs', 'run_logs'));
GRANT SELECT ON queries.syntax TO orch_app;

DO $$
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN RETURN; END IF;
  GRANT EXECUTE ON FUNCTION pg_catalog.convert_from(bytea, name) TO PUBLIC;
  PERFORM queries.confine();
END $$;
