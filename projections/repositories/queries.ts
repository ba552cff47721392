import type { RepositoryId } from '#domain/kernel/ids.ts';
import type { ScriptSource } from '#domain/repository/repository.ts';
import type { ReadModels } from '../projection.ts';
import type { RepositoriesTable } from './table.ts';

/** One repository; `undefined` if it does not exist. */
export async function findRepository(
  db: ReadModels,
  id: RepositoryId,
): Promise<RepositoriesTable | undefined> {
  return await present(db).where('repository_id', '=', id).executeTakeFirst();
}

/** The repository of a webhook call; `undefined` if the token is unknown. */
export async function findRepositoryByToken(
  db: ReadModels,
  tokenHash: string,
): Promise<RepositoriesTable | undefined> {
  return await present(db).where('token_hash', '=', tokenHash).executeTakeFirst();
}

/** All repositories, oldest first. An installation has a few. */
export async function listRepositories(db: ReadModels): Promise<readonly RepositoriesTable[]> {
  return await present(db).orderBy('repository_id').execute();
}

/** The scripts that come from repositories, with their sources. */
export async function sourcedScripts(db: ReadModels): Promise<ReadonlyMap<string, ScriptSource>> {
  const rows = await db
    .selectFrom('scripts')
    .select(['script_id', 'source'])
    .where('source', 'is not', null)
    .execute();
  return new Map(rows.flatMap(({ script_id: id, source }) => (source ? [[id, source]] : [])));
}

function present(db: ReadModels) {
  return db.selectFrom('repositories').selectAll().where('deleted', '=', false);
}
