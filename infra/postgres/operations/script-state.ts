/** Stores the state that a script keeps across runs: small JSON values by key. */
import type { Queryable } from '../database.ts';

export const maxStateKeys = 1_000;
/** The total size limit for the values of one script. */
export const maxStateBytes = 10 * 1024 * 1024;

const statements = {
  get: `SELECT value FROM script_state WHERE script_id = $1 AND key = $2`,
  set: `INSERT INTO script_state (script_id, key, value) SELECT $1, $2, $3
    FROM (SELECT count(*) AS keys, coalesce(sum(octet_length(value)), 0) AS bytes
      FROM script_state WHERE script_id = $1 AND key <> $2) others
    WHERE others.keys < $4 AND others.bytes + octet_length($3) <= $5
    ON CONFLICT (script_id, key) DO UPDATE SET value = excluded.value, updated_at = now()`,
  remove: `DELETE FROM script_state WHERE script_id = $1 AND key = $2`,
  removeAll: `DELETE FROM script_state WHERE script_id = $1`,
};

/** Returns the value of a key as JSON text, or `undefined` if the key has no value. */
export async function getState(
  db: Queryable,
  scriptId: string,
  key: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ value: string }>(statements.get, [scriptId, key]);
  return rows[0]?.value;
}

/** @param value JSON text
 *  @returns false if the script's state would exceed the size limit */
export async function setState(
  db: Queryable,
  scriptId: string,
  key: string,
  value: string,
): Promise<boolean> {
  const { rowCount } = await db.query(statements.set, [
    scriptId,
    key,
    value,
    maxStateKeys,
    maxStateBytes,
  ]);
  return rowCount === 1;
}

export async function removeState(db: Queryable, scriptId: string, key: string): Promise<void> {
  await db.query(statements.remove, [scriptId, key]);
}

/** Removes all state of a script. */
export async function removeAllState(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.removeAll, [scriptId]);
}
