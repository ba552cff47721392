/** Whether this program can restore a backup: its rows are of a schema that the program's migrations make. */
import type { Migration } from '#infra/postgres/migrate.ts';
import type { FormatDescription } from './format.ts';
import { newer } from './manifest.ts';

/** It cannot be restored here; nothing was changed. The message is for the operator. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused';
}

export interface SchemaMigrations {
  /** The migrations that created the schema of the backup's rows. */
  readonly before: readonly Migration[];
  readonly after: readonly Migration[];
}

/** @throws NewerBackup, RestoreRefused where its schema is none of this program's */
export function migrationsFor(
  format: FormatDescription,
  own: readonly Migration[],
): SchemaMigrations {
  const { migrations: theirs, version } = format;
  if (theirs.length > own.length) throw newer(version);
  for (const [index, { name, sha256 }] of theirs.entries()) {
    if (own[index]?.sha256 !== sha256) {
      throw new RestoreRefused(`The backup is of another program: its migration ${name} differs.`);
    }
  }
  return { before: own.slice(0, theirs.length), after: own.slice(theirs.length) };
}
