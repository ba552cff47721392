/** Records the version of each projection's rows. A program does not serve rows of a different version
 *  (docs/adr/0006-projections-are-rebuilt-beside.md). */
import type { Projection } from '#projections/projection.ts';
import type { Queryable } from '../database.ts';

const statements = {
  read: `SELECT name, version FROM projection_versions`,
  isEmpty: `SELECT NOT EXISTS (SELECT FROM events) AS empty`,
  record: `INSERT INTO projection_versions (name, version)
    SELECT * FROM unnest($1::text[], $2::integer[]) ON CONFLICT DO NOTHING`,
  replace: `INSERT INTO projection_versions (name, version) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, recorded_at = now()`,
};

/** The rows of one projection that this program cannot use. */
export interface OutdatedRows {
  readonly projection: Projection;
  /** The version of the rows. 0 if there are no rows although events exist. */
  readonly recorded: number;
}

/** Returns projections whose rows have a different version than this program requires. For an empty store, records the
 *  program's versions instead. */
export async function outdatedRows(
  db: Queryable,
  projections: readonly Projection[],
): Promise<readonly OutdatedRows[]> {
  const known = await recordedVersions(db);
  if (projections.some(({ name }) => !known.has(name)) && (await isEmptyStore(db))) {
    await db.query(statements.record, [
      projections.map((projection) => projection.name),
      projections.map((projection) => projection.version),
    ]);
    return [];
  }
  return projections
    .map((projection) => ({ projection, recorded: known.get(projection.name) ?? 0 }))
    .filter(({ projection, recorded }) => projection.version !== recorded);
}

/** @throws Error with a message for the operator if rows have a different version than this program requires */
export async function refuseOutdatedRows(
  db: Queryable,
  projections: readonly Projection[],
): Promise<void> {
  const outdated = await outdatedRows(db, projections);
  if (outdated.length === 0) return;
  const versions = outdated.map(
    ({ projection, recorded }) =>
      `${projection.name} (rows of version ${recorded}, program of version ${projection.version})`,
  );
  throw new Error(
    `Rebuild these projections first: ${versions.join(', ')}. ` +
      'Run: services/cli/orchestrator projections rebuild --outdated',
  );
}

export async function recordedVersions(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ name: string; version: number }>(statements.read, []);
  return new Map(rows.map((row) => [row.name, row.version]));
}

/** Records the version of rebuilt rows. Requires the rights of the schema's owner. */
export async function replaceVersion(db: Queryable, projection: Projection): Promise<void> {
  await db.query(statements.replace, [projection.name, projection.version]);
}

async function isEmptyStore(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ empty: boolean }>(statements.isEmpty, []);
  return rows[0]?.empty === true;
}
