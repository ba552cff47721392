/** Reads the files of scripts. Every version remains readable. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';

export interface ScriptFileView {
  readonly path: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly saved_at: Date;
}

const lastVersion = 2147483647;
/** If a script has at least this many versions, each path is looked up separately. One lookup costs as much as
 *  reading about twenty rows. */
const manyVersions = 200;

interface WantedFiles {
  /** The script's ID. */
  readonly of: RawBuilder<unknown>;
  /** The number of versions of the script. */
  readonly versions: RawBuilder<unknown>;
  /** The version as of which files are read. */
  readonly until: RawBuilder<unknown>;
  /** Includes only paths after this path. */
  readonly after: RawBuilder<unknown>;
}

/** Builds a query for the last version of each file, including deleted files. Intermediate versions of frequently
 *  changed files are skipped, so the cost grows only with the number of files. */
export function lastVersions({ of, versions, until, after }: WantedFiles): RawBuilder<unknown> {
  const columns = sql`path, sha256, size_bytes, saved_at`;
  // This is the order of an index, so nothing is sorted.
  const lastFirst = sql`ORDER BY path DESC, version DESC`;
  const nextPath = (place: RawBuilder<unknown>) => sql`(SELECT path FROM script_files
    WHERE script_id = ${of} AND path > ${place} ORDER BY path LIMIT 1)`;
  return sql`
    SELECT * FROM (
      SELECT DISTINCT ON (path) ${columns} FROM script_files
      WHERE script_id = ${of} AND version <= ${until} AND path > ${after} ${lastFirst}
    ) every WHERE ${versions} < ${sql.lit(manyVersions)}
    UNION ALL
    SELECT * FROM (
      WITH RECURSIVE paths AS (
        SELECT ${nextPath(after)} AS path
        UNION ALL
        SELECT ${nextPath(sql`paths.path`)} FROM paths WHERE path IS NOT NULL
      )
      SELECT last.* FROM paths CROSS JOIN LATERAL (
        SELECT ${columns} FROM script_files
        WHERE script_id = ${of} AND path = paths.path AND version <= ${until}
        ORDER BY version DESC LIMIT 1
      ) last
    ) each WHERE ${versions} >= ${sql.lit(manyVersions)}`;
}

/** Lists the files of a script as of `version`, sorted by path, starting after `after`. Returns at most `limit`
 *  files. Default: the current version */
export async function listFiles(
  db: ReadModels,
  scriptId: ScriptId,
  options: { readonly version?: number; readonly after?: string; readonly limit?: number } = {},
): Promise<readonly ScriptFileView[]> {
  const files = lastVersions({
    of: sql`${scriptId}::uuid`,
    versions: sql`(SELECT version FROM scripts WHERE script_id = ${scriptId})`,
    until: sql`${options.version ?? lastVersion}::integer`,
    after: sql`${options.after ?? ''}::text`,
  });
  const { rows } = await sql<ScriptFileView>`
    SELECT * FROM (${files}) latest
    WHERE sha256 IS NOT NULL ORDER BY path LIMIT ${options.limit ?? null}`.execute(db);
  return rows;
}

/** Returns a file of the script as of `version`, or `undefined` if the file did not exist in that version. */
export async function findFile(
  db: ReadModels,
  scriptId: ScriptId,
  path: string,
  version = lastVersion,
): Promise<ScriptFileView | undefined> {
  const row = await db
    .selectFrom('script_files')
    .select(['path', 'sha256', 'size_bytes', 'saved_at'])
    .where('script_id', '=', scriptId)
    .where('path', '=', path)
    .where('version', '<=', version)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return withContent(row);
}

function withContent<Row extends { readonly sha256: string | null }>(row: Row | undefined) {
  const sha256 = row?.sha256 ?? undefined;
  return row === undefined || sha256 === undefined ? undefined : { ...row, sha256 };
}

/** Returns the latest version of a file with this content, and the script version that added it. */
export async function findSavedFile(
  db: ReadModels,
  scriptId: ScriptId,
  path: string,
  sha256: string,
): Promise<(ScriptFileView & { readonly version: number }) | undefined> {
  const row = await db
    .selectFrom('script_files')
    .select(['path', 'sha256', 'size_bytes', 'saved_at', 'version'])
    .where('script_id', '=', scriptId)
    .where('path', '=', path)
    .where('sha256', '=', sha256)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return withContent(row);
}
