import type { RepositoryId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { ReadModels } from '../projection.ts';
import type { RepositoriesTable } from './table.ts';

/** Returns a repository, or `undefined` if it does not exist. */
export async function findRepository(
  db: ReadModels,
  id: RepositoryId,
): Promise<RepositoriesTable | undefined> {
  return await present(db).where('repository_id', '=', id).executeTakeFirst();
}

/** Returns the repository to which a webhook request belongs, or `undefined` if the token is unknown. */
export async function findRepositoryByToken(
  db: ReadModels,
  tokenHash: string,
): Promise<RepositoriesTable | undefined> {
  return await present(db).where('token_hash', '=', tokenHash).executeTakeFirst();
}

/** Returns all repositories, oldest first. An installation has only a few. */
export async function listRepositories(db: ReadModels): Promise<readonly RepositoriesTable[]> {
  return await present(db).orderBy('repository_id').execute();
}

/** A script that comes from a repository. */
export interface SourcedScript {
  readonly name: string;
  /** The current version of the script. */
  readonly version: number;
  readonly source: ScriptSource;
}

/** Returns the scripts that come from repositories, by script ID. */
export async function sourcedScripts(db: ReadModels): Promise<ReadonlyMap<string, SourcedScript>> {
  const rows = await db
    .selectFrom('scripts')
    .select(['script_id', 'name', 'version', 'source'])
    .where('source', 'is not', null)
    .orderBy('script_id')
    .execute();
  return new Map(
    rows.flatMap(({ script_id: id, name, version, source }) =>
      source ? [[id, { name, version, source }]] : [],
    ),
  );
}

/** Whether the script contains changes that are not yet in the branch of its repository. */
export function isEdited({ version, source: { writeBack } }: SourcedScript): boolean {
  return writeBack !== undefined && version > writeBack.version;
}

function present(db: ReadModels) {
  return db.selectFrom('repositories').selectAll().where('deleted', '=', false);
}
