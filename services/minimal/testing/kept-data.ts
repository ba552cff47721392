/** Stores the data folder of an earlier release in one small file that does not depend on a PostgreSQL version. The
 *  file contains the rows of every table, the migrations that created them, and the other files. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { startEmbeddedPostgres } from '#infra/embedded/postgres.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { migrateWithin, readMigrations } from '#infra/postgres/migrate.ts';
import { withClient } from '#infra/testing/client.ts';

const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** Known content of the data folder, which later tests check. */
export interface KnownHistory {
  readonly password: string;
  /** The email address of the second account. */
  readonly email: string;
  readonly scriptId: string;
  /** The output of the script's runs, which the script computes from its secret. */
  readonly output: unknown;
  /** The path and query of a webhook that starts the script. */
  readonly webhookPath: string;
  readonly runIds: readonly string[];
}

export interface KeptData {
  /** The release that created the data. */
  readonly version: string;
  /** The migrations, in order. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
  /** The rows of each table, by table name. Each row is a line of JSON. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The base64 content of each file, by its path in the data folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly history: KnownHistory;
}

/** The folders that an installation requires besides its database. */
const keptFolders = ['secrets', 'objects'];

/** Reads the data folder of a stopped release. */
export async function keepData(
  dataDir: string,
  release: Pick<KeptData, 'version' | 'history'>,
): Promise<KeptData> {
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  try {
    const { migrations, tables } = await withClient(server.adminUrl, async (db) => ({
      migrations: await migrationsOf(db),
      tables: await rowsOfAll(db),
    }));
    return { ...release, migrations, tables, files: await filesIn(dataDir) };
  } finally {
    await server.stop();
  }
}

export async function writeKept(file: string, kept: KeptData): Promise<void> {
  await writeFile(file, await promisify(gzip)(JSON.stringify(kept), { level: 9 }));
}

export async function readKept(file: string): Promise<KeptData> {
  return JSON.parse((await promisify(gunzip)(await readFile(file))).toString()) as KeptData;
}

/** Recreates a release's data folder.
 *  @throws Error if one of the release's migrations has been changed since */
export async function openKept(kept: KeptData, dataDir: string): Promise<void> {
  for (const [path, content] of Object.entries(kept.files)) {
    await mkdir(dirname(join(dataDir, path)), { recursive: true });
    await writeFile(join(dataDir, path), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  try {
    await withClient(server.adminUrl, async (db) => {
      const own = readMigrations(migrationsFolder).slice(0, kept.migrations.length);
      await migrateWithin(db, own);
      for (const [index, { name, sha256 }] of kept.migrations.entries()) {
        if (own[index]?.sha256 !== sha256) throw new Error(`the migration ${name} was changed`);
      }
      for (const [table, lines] of Object.entries(kept.tables)) await fill(db, table, lines);
      await goOnBehind(db);
    });
  } finally {
    await server.stop();
  }
}

/** Returns the rows of every table in a fixed order, without the migration times. */
export async function rowsOfAll(db: Queryable): Promise<KeptData['tables']> {
  const { rows: names } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
       AND relkind = 'r' AND relname <> 'schema_migrations' ORDER BY relname`,
    [],
  );
  const tables: Record<string, readonly string[]> = {};
  for (const { name } of names) {
    const { rows } = await db.query<{ line: string }>(
      `SELECT row_to_json(r)::text AS line FROM ${name} r ORDER BY 1`,
      [],
    );
    tables[name] = rows.map(({ line }) => line);
  }
  return tables;
}

/** Returns the names and hashes of the migrations that were applied to a database. */
export async function migrationsOf(db: Queryable): Promise<KeptData['migrations']> {
  const { rows } = await db.query<KeptData['migrations'][number]>(
    'SELECT name, sha256 FROM schema_migrations ORDER BY number',
    [],
  );
  return rows;
}

async function filesIn(dataDir: string): Promise<KeptData['files']> {
  const files: Record<string, string> = {};
  for (const folder of keptFolders) {
    const entries = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name);
      files[path.slice(dataDir.length + 1)] = await readFile(path, 'base64');
    }
  }
  return files;
}

async function fill(db: Queryable, table: string, lines: readonly string[]): Promise<void> {
  // Includes rows that the migrations themselves inserted.
  const { rows } = await db.query<{ found: boolean }>(`SELECT FROM ${table} LIMIT 1`, []);
  if (rows.length > 0) await db.query(`TRUNCATE ${table}`, []);
  if (lines.length === 0) return;
  await db.query(
    `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
     SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`,
    [`[${lines.join(',')}]`],
  );
}

/** Advances positions and transaction IDs, so that new events follow the existing events. */
async function goOnBehind(db: Queryable): Promise<void> {
  await db.query(
    `SELECT setval('events_global_position_seq', (SELECT max(global_position) FROM events))`,
    [],
  );
  await db.query(
    `DO $$ DECLARE last xid8 := (SELECT max(transaction_id) FROM events);
     BEGIN
       WHILE pg_current_xact_id() <= last LOOP COMMIT; END LOOP;
     END $$`,
    [],
  );
}
