/** Migrates a database schema to the current version with numbered SQL files. There are no down migrations. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withConnection } from './await-database.ts';
import type { Queryable } from './database.ts';

/** An arbitrary lock ID, shared by all processes that migrate the database. */
const LOCK_KEY = 7_264_011_853;
const ownTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
  number integer PRIMARY KEY,
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now())`;
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

export interface Migration {
  readonly number: number;
  /** The file name. */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

export interface MigrationOutcome {
  /** The files applied by this call. */
  readonly applied: readonly string[];
  /** Applied files that this version does not contain. */
  readonly ahead: readonly string[];
}

export interface MigrateOptions {
  /** A folder of files named `NNNN_name.sql`, numbered from 1 without gaps. */
  readonly directory: string;
}

/** Applies the pending files, each in its own transaction. If several processes migrate concurrently, one of them
 *  applies the files and the others wait.
 *  @param adminUrl the URL of the schema's owner
 *  @throws Error that names the file if it failed, is misnumbered, or was changed after it was applied; earlier files
 *  stay applied */
export async function migrate(
  adminUrl: string,
  options: MigrateOptions,
): Promise<MigrationOutcome> {
  const migrations = readMigrations(options.directory);
  // Closing the connection also releases the lock.
  return await withConnection(adminUrl, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await client.query(ownTable);
    return await catchUp(client, migrations);
  });
}

/** Returns the message for a user who starts an older version with a newer database.
 *  @param ahead as returned by `migrate`, which then changed nothing */
export function newerSchema(ahead: readonly string[]): string {
  return `The database belongs to a newer version of this program (${ahead.join(', ')}). Nothing was changed. Start the newer version, or restore a backup made by this version.`;
}

/** Blocks other migrations until the caller's transaction ends. */
export async function lockMigrations(db: Queryable): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
}

/** Applies migrations inside the caller's transaction, which must hold the migration lock. */
export async function migrateWithin(
  db: Queryable,
  migrations: readonly Migration[],
): Promise<void> {
  await db.query(ownTable);
  for (const migration of migrations) await applyMigration(db, migration);
}

/** Reads and validates a folder of migrations.
 *  @throws Error that describes an invalid name, a gap or a duplicate number */
export function readMigrations(directory: string): readonly Migration[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.sql'));
  return names.toSorted().map((name, index, sorted) => {
    const digits = FILE_NAME.exec(name)?.[1];
    if (digits === undefined) throw new Error(`migration ${name} is not named NNNN_name.sql`);
    const number = Number(digits);
    if (number === index) {
      throw new Error(`migrations ${sorted[index - 1]} and ${name} have the same number`);
    }
    if (number !== index + 1) throw new Error(`the migration before ${name} is missing`);
    const sql = readFileSync(join(directory, name), 'utf8');
    return { number, name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
  });
}

async function catchUp(
  client: Queryable,
  migrations: readonly Migration[],
): Promise<MigrationOutcome> {
  const seen = await client.query<Pick<Migration, 'number' | 'name' | 'sha256'>>(
    'SELECT number, name, sha256 FROM schema_migrations ORDER BY number',
  );
  for (const { number, name, sha256 } of seen.rows) {
    const file = migrations[number - 1];
    if (file !== undefined && file.sha256 !== sha256) throw new Error(changed(name, file.name));
  }
  const last = seen.rows.at(-1)?.number ?? 0;
  const missing = migrations.filter((migration) => migration.number > last);
  for (const migration of missing) await applyOne(client, migration);
  return {
    applied: missing.map((migration) => migration.name),
    ahead: seen.rows.slice(migrations.length).map((row) => row.name),
  };
}

function changed(applied: string, file: string): string {
  if (applied !== file)
    return `migration ${file} was applied as ${applied}, with different content`;
  return `migration ${file} was changed after it was applied; revert the change and add a new migration`;
}

async function applyOne(client: Queryable, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  await applyMigration(client, migration);
  await client.query('COMMIT');
}

async function applyMigration(
  db: Queryable,
  { number, name, sql, sha256 }: Migration,
): Promise<void> {
  try {
    await db.query(sql);
    await db.query('INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)', [
      number,
      name,
      sha256,
    ]);
  } catch (cause) {
    throw new Error(`migration ${name} failed: ${(cause as Error).message}`, { cause });
  }
}
