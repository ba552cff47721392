/** Data keys that were destroyed are taken out of backups too, so that nothing of them is left. */
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readKeys, saveKeys } from './files.ts';

const destroyed = `SELECT key_id FROM destroyed_keys WHERE key_id = ANY ($1::uuid[])`;

export async function dropDestroyedKeys(
  db: Queryable,
  objects: ObjectStore,
  backupId: string,
): Promise<void> {
  const keys = await readKeys(objects, backupId);
  const ids = keys.map((key) => key.key_id);
  const { rows } = await db.query<{ key_id: string }>(destroyed, [ids]);
  if (rows.length === 0) return;
  const gone = new Set(rows.map((row) => row.key_id));
  await saveKeys(
    objects,
    backupId,
    keys.filter((key) => !gone.has(key.key_id)),
  );
}
