/** Data keys, one a script, wrapped by the master key and kept beside the history: destroying a script's
 *  key makes every copy of its secrets unreadable, and the history stays whole. */
import { randomBytes } from 'node:crypto';
import { inTransaction, type Queryable } from '#infra/postgres/database.ts';
import { lockStreams } from '#infra/postgres/command-batch.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type pg from 'pg';
import { close, keyBytes, keyName, open, UnreadableSecret } from './envelope.ts';

const statements = {
  byScript: `SELECT key_id, script_id, master_key_id, wrapped_key FROM data_keys WHERE script_id = $1`,
  byId: `SELECT key_id, script_id, master_key_id, wrapped_key FROM data_keys WHERE key_id = $1`,
  put: `INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key)
    VALUES ($1, $2, $3, $4) ON CONFLICT (script_id) DO NOTHING`,
  unused: `SELECT script_id FROM data_keys k WHERE NOT EXISTS (
    SELECT FROM secrets s WHERE s.script_id = k.script_id AND s.sealed IS NOT NULL) LIMIT $1`,
  destroyUnused: `DELETE FROM data_keys k WHERE script_id = $1 AND NOT EXISTS (
    SELECT FROM secrets s WHERE s.script_id = k.script_id AND s.sealed IS NOT NULL)`,
  destroy: `DELETE FROM data_keys WHERE script_id = $1`,
};

/** An open data key; it stays in this process. */
export interface DataKey {
  readonly keyId: string;
  readonly key: Buffer;
}

interface KeyRow {
  readonly key_id: string;
  readonly script_id: string;
  readonly master_key_id: string;
  readonly wrapped_key: Buffer;
}

const nonceBytes = 12;

export class DataKeys {
  readonly #db: Queryable;
  readonly #masterKey: Uint8Array;
  readonly #ids: Ids;

  constructor(db: Queryable, masterKey: Uint8Array, ids: Ids) {
    this.#db = db;
    this.#masterKey = masterKey;
    this.#ids = ids;
  }

  /** The script's key; made where there is none.
   *  @throws UnreadableSecret when it was wrapped by another master key */
  async ofScript(scriptId: string): Promise<DataKey> {
    const { rows } = await this.#db.query<KeyRow>(statements.byScript, [scriptId]);
    if (rows[0] !== undefined) return this.#unwrap(rows[0]);
    const keyId = this.#ids.next();
    const context = contextOf({ key_id: keyId, script_id: scriptId });
    const { nonce, ciphertext } = close(this.#masterKey, randomBytes(keyBytes), context);
    const wrapped = Buffer.concat([nonce, ciphertext]);
    await this.#db.query(statements.put, [keyId, scriptId, keyName(this.#masterKey), wrapped]);
    // Somebody else's may have been first.
    return await this.ofScript(scriptId);
  }

  /** @throws UnreadableSecret when it was destroyed, or wrapped by another master key */
  async byId(keyId: string): Promise<DataKey> {
    const { rows } = await this.#db.query<KeyRow>(statements.byId, [keyId]);
    if (rows[0] === undefined) throw new UnreadableSecret('its data key was destroyed');
    return this.#unwrap(rows[0]);
  }

  #unwrap(row: KeyRow): DataKey {
    if (row.master_key_id !== keyName(this.#masterKey)) {
      throw new UnreadableSecret('its data key was made with another SECRET_MASTER_KEY');
    }
    const [nonce, ciphertext] = [
      row.wrapped_key.subarray(0, nonceBytes),
      row.wrapped_key.subarray(nonceBytes),
    ];
    return {
      keyId: row.key_id,
      key: open(this.#masterKey, { nonce, ciphertext }, contextOf(row)),
    };
  }
}

function contextOf({ key_id: keyId, script_id: scriptId }: Pick<KeyRow, 'key_id' | 'script_id'>) {
  return ['data key', scriptId, keyId];
}

/** Destroys the script's data key, and with it every copy of every secret that it ever had. */
export async function destroyDataKey(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.destroy, [scriptId]);
}

/** Destroys the script's data key if it has no secret. */
export async function destroyUnusedDataKey(pool: pg.Pool, scriptId: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Whoever sets a secret now is decided before, and then it is used, or after, and then it is gone.
    await client.query(lockStreams, [[`secret-${scriptId}`]]);
    await client.query(statements.destroyUnused, [scriptId]);
  });
}

/** The same for every script: a process may have died between the last secret and its key.
 *  @param limit of keys at one go */
export async function destroyUnusedDataKeys(pool: pg.Pool, limit: number): Promise<void> {
  const { rows } = await pool.query<{ script_id: string }>(statements.unused, [limit]);
  for (const { script_id: scriptId } of rows) await destroyUnusedDataKey(pool, scriptId);
}
