import type { GroupId, ScriptId, SecretStoreId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { SecretStoresTable } from './table.ts';

/** Returns a secret store, or `undefined` if it does not exist. */
export async function findSecretStore(
  db: ReadModels,
  id: string,
): Promise<SecretStoresTable | undefined> {
  return await present(db).where('secret_store_id', '=', id).executeTakeFirst();
}

/** Returns all secret stores, oldest first. An installation has only a few. */
export async function listSecretStores(db: ReadModels): Promise<readonly SecretStoresTable[]> {
  return await present(db).orderBy('created_at').orderBy('secret_store_id').execute();
}

/** A secret store with a flag that tells whether the script's group may read it. */
export type StoreOfScript = SecretStoresTable & { readonly allowed: boolean };

/** Returns the given secret stores that exist, by ID. */
export async function storesOfScript(
  db: ReadModels,
  scriptId: ScriptId,
  ids: readonly SecretStoreId[],
): Promise<ReadonlyMap<string, StoreOfScript>> {
  const { rows } = await sql<StoreOfScript>`
    SELECT store.*, store.settings -> 'groupIds' = 'null' OR store.settings -> 'groupIds' ?
      (SELECT group_id::text FROM scripts WHERE script_id = ${scriptId}) AS allowed
    FROM secret_stores store WHERE secret_store_id = ANY(${ids}::uuid[]) AND NOT deleted`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.secret_store_id, row]));
}

/** Returns the groups that may read a secret store. `null` means all groups, and `undefined` means that the store
 *  does not exist. */
export async function groupsOfStore(
  db: ReadModels,
  id: string,
): Promise<readonly GroupId[] | null | undefined> {
  return (await findSecretStore(db, id))?.settings.groupIds;
}

/** Returns descriptions of the secrets that use a store, such as `TOKEN of the script "Report"`. */
export async function usersOfStore(db: ReadModels, id: string): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly name: string }>`
    SELECT secret.name || ' of the script "' || script.name || '"' AS name
    FROM secrets secret JOIN scripts script USING (script_id)
    WHERE secret.source ->> 'storeId' = ${id}
    UNION ALL
    SELECT secret.name || ' of the group "' || owner.name || '"'
    FROM group_secrets secret JOIN groups owner USING (group_id)
    WHERE secret.source ->> 'storeId' = ${id}
    ORDER BY name`.execute(db);
  return rows.map(({ name }) => name);
}

function present(db: ReadModels) {
  return db.selectFrom('secret_stores').selectAll().where('deleted', '=', false);
}
