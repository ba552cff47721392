/** Checks whether this program can restore a backup. Its migrations must be able to create the schema of the backup's
 *  rows. */
import type { Migration } from '#infra/postgres/migrate.ts';
import type { FormatDescription } from './format.ts';
import { newer } from './manifest.ts';

/** The backup cannot be restored, and nothing was changed. The message is for the operator. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused';
}

export interface SchemaMigrations {
  /** The migrations that created the schema of the backup's rows. */
  readonly before: readonly Migration[];
  readonly after: readonly Migration[];
}

/** @throws NewerBackup; RestoreRefused if this program's migrations cannot create the backup's schema */
export function migrationsFor(
  format: FormatDescription,
  own: readonly Migration[],
): SchemaMigrations {
  const { migrations: theirs, version } = format;
  if (theirs.length > own.length) throw newer(version);
  for (const [index, { name, sha256 }] of theirs.entries()) {
    if (own[index]?.sha256 !== sha256) {
      throw new RestoreRefused(
        `The backup belongs to a different program: its migration ${name} differs.`,
      );
    }
  }
  return { before: own.slice(0, theirs.length), after: own.slice(theirs.length) };
}
