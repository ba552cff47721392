import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withClient } from '#infra/testing/client.ts';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The schema after all migrations, one object per line; the owner's own privileges are omitted. */
const schemaLines = `
  WITH relation AS (
    SELECT c.oid, c.relname AS name, c.relkind, c.relowner, c.relacl,
      CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' END
        || ' ' || c.relname AS title,
      coalesce(' with ' || array_to_string(c.reloptions, ', '), '') AS options
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'S')
  ), routine AS (
    SELECT p.oid, p.proowner, p.proacl,
      'function ' || p.proname || '(' || pg_get_function_arguments(p.oid) || ')' AS title,
      ' returns ' || pg_get_function_result(p.oid) || ' language ' || l.lanname ||
        CASE WHEN p.prosecdef THEN ' security definer' ELSE '' END AS options
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'public'::regnamespace
  ), line (title, section, place, text) AS (
    SELECT title, 0, 0, title || options FROM relation
    UNION ALL SELECT title, 0, 0, title || options FROM routine
    UNION ALL
    SELECT r.title, 1, a.attnum, 'column ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
      || CASE WHEN co.collname <> 'default' THEN ' collate ' || co.collname ELSE '' END
      || CASE a.attidentity WHEN 'a' THEN ' always identity' WHEN 'd' THEN ' identity' ELSE '' END
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_collation co ON co.oid = a.attcollation
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE r.relkind <> 'S'
    UNION ALL
    SELECT r.title, 2, 0, 'constraint ' || o.conname || ' ' || pg_get_constraintdef(o.oid)
    FROM relation r JOIN pg_constraint o ON o.conrelid = r.oid AND o.contype <> 'n'
    UNION ALL
    SELECT r.title, 3, 0, pg_get_indexdef(i.indexrelid)
    FROM relation r JOIN pg_index i ON i.indrelid = r.oid
    UNION ALL
    SELECT r.title, 4, 0, pg_get_triggerdef(t.oid)
    FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal
    UNION ALL
    SELECT title, 5, 0, 'grant ' || string_agg(privilege_type, ', ' ORDER BY privilege_type) || ' to '
      || CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END
    FROM (
      SELECT title, relowner AS owner, (aclexplode(relacl)).* FROM relation
      UNION ALL
      SELECT title, proowner, (aclexplode(coalesce(proacl, acldefault('f', proowner)))).* FROM routine
    ) granted WHERE grantee <> owner GROUP BY title, grantee
  )
  SELECT CASE section WHEN 0 THEN text ELSE '  ' || text END AS text FROM line
  ORDER BY title COLLATE "C", section, place, text COLLATE "C"`;

/** The file that a schema is compared with. */
async function schemaText(): Promise<string> {
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ text: string }>(schemaLines),
  );
  return rows
    .map(({ text }) => `${text.startsWith('  ') ? '' : '\n'}${text}\n`)
    .join('')
    .trimStart();
}

test('the migrations produce the schema in schema.txt (UPDATE_SCHEMA=true updates the file)', async () => {
  const file = fileURLToPath(new URL('schema.txt', import.meta.url));
  const schema = await schemaText();
  if (process.env['UPDATE_SCHEMA'] === 'true') writeFileSync(file, schema);
  expect(schema).toBe(readFileSync(file, 'utf8'));
});

describe('a service', () => {
  test.each([
    'UPDATE events SET recorded_at = now()',
    'DELETE FROM events',
    'TRUNCATE events',
    'DELETE FROM streams',
    'TRUNCATE streams',
    'UPDATE commands SET result = result',
    'INSERT INTO schema_migrations (number, name, sha256) VALUES (99, $$x$$, $$x$$)',
    'DELETE FROM schema_migrations',
    'TRUNCATE run_queue',
  ])('may not change data of other services: %s', refused);

  test.each([
    'CREATE TABLE mine (id integer)',
    'CREATE VIEW mine AS SELECT 1',
    'CREATE SCHEMA mine',
    'CREATE EXTENSION pgcrypto',
    'CREATE FUNCTION mine() RETURNS integer LANGUAGE sql RETURN 1',
    'CREATE OR REPLACE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
    'CREATE INDEX mine ON events (type)',
    'CREATE TRIGGER mine AFTER INSERT ON events EXECUTE FUNCTION refuse_event_change()',
    'CREATE RULE mine AS ON INSERT TO events DO INSTEAD NOTHING',
    'ALTER TABLE events DISABLE TRIGGER ALL',
    'ALTER TABLE scripts ADD COLUMN mine integer',
    'DROP TRIGGER events_are_immutable ON events',
    'DROP TABLE scripts',
    'DROP FUNCTION append_events',
    'SET session_replication_role = replica',
    'CREATE ROLE mine',
  ])('may not change the schema: %s', refused);

  test('may only read and append events', async () => {
    const { rows } = await withClient(database.serviceUrl, (client) =>
      client.query<{ right: string }>(
        `SELECT p AS right FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE',
          'REFERENCES', 'TRIGGER', 'MAINTAIN']) p WHERE has_table_privilege('events', p)`,
      ),
    );
    expect(rows.map((row) => row.right)).toEqual(['SELECT', 'INSERT']);
  });
});

async function refused(sql: string): Promise<void> {
  const attempt = withClient(database.serviceUrl, (client) => client.query(sql));
  // 42501: insufficient privilege.
  await expect(attempt).rejects.toMatchObject({ code: '42501' });
}
