/** Manages data keys, which are wrapped by the master key and stored outside the events. Each script and each group has
 *  one data key for its secrets. Each second factor, signed webhook, notification channel, identity provider, secret
 *  store and repository has its own key. Destroying a data key makes every copy of its ciphertext unreadable, but the
 *  events stay complete. */
import { randomBytes } from 'node:crypto';
import { inTransaction, type Queryable } from '#infra/postgres/database.ts';
import { lockStreams } from '#infra/postgres/commands/command-batch.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type pg from 'pg';
import { close, keyBytes, keyName, open, UnreadableSecret } from './envelope.ts';

/** Whether a key's owner still needs the key. For every kind of owner, the column `script_id` contains the owner's
 *  ID. An owner is a script, a group, a user, a webhook, a notification channel, an identity provider, a secret store
 *  or a repository. */
const isUsed = `(EXISTS (
    SELECT FROM secrets s WHERE s.script_id = k.script_id AND s.sealed IS NOT NULL)
  OR EXISTS (SELECT FROM group_secrets g JOIN groups USING (group_id)
    WHERE g.group_id = k.script_id AND g.sealed IS NOT NULL)
  OR EXISTS (SELECT FROM users u
    WHERE u.user_id = k.script_id AND u.second_factor IS NOT NULL)
  OR EXISTS (SELECT FROM webhooks w
    WHERE w.webhook_id = k.script_id AND w.signing IS NOT NULL AND NOT w.deleted)
  OR EXISTS (SELECT FROM notification_channels c
    WHERE c.channel_id = k.script_id AND c.sealed IS NOT NULL)
  OR EXISTS (SELECT FROM identity_providers p
    WHERE p.identity_provider_id = k.script_id AND p.sealed IS NOT NULL)
  OR EXISTS (SELECT FROM repositories r WHERE r.repository_id = k.script_id AND NOT r.deleted)
  OR EXISTS (SELECT FROM secret_stores t
    WHERE t.secret_store_id = k.script_id AND t.sealed IS NOT NULL))`;

/** Returns a statement that removes keys and records their IDs, so that a restore of a backup omits these keys. */
function destroying(removal: string): string {
  return `WITH gone AS (${removal} RETURNING key_id)
    INSERT INTO destroyed_keys (key_id) SELECT key_id FROM gone ON CONFLICT DO NOTHING`;
}

const statements = {
  byScript: `SELECT key_id, script_id, master_key_id, wrapped_key FROM data_keys WHERE script_id = $1`,
  byId: `SELECT key_id, script_id, master_key_id, wrapped_key FROM data_keys WHERE key_id = $1`,
  others: `SELECT key_id, script_id, master_key_id, wrapped_key FROM data_keys
    WHERE master_key_id <> $1`,
  rewrap: `UPDATE data_keys SET master_key_id = $3, wrapped_key = $4
    WHERE key_id = $1 AND master_key_id = $2`,
  put: `INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key)
    VALUES ($1, $2, $3, $4) ON CONFLICT (script_id) DO NOTHING`,
  unused: `SELECT script_id FROM data_keys k WHERE NOT ${isUsed} LIMIT $1`,
  destroyUnused: destroying(`DELETE FROM data_keys k WHERE script_id = $1 AND NOT ${isUsed}`),
  destroy: destroying(`DELETE FROM data_keys WHERE script_id = $1
    OR script_id IN (SELECT webhook_id FROM webhooks WHERE script_id = $1)`),
};

/** An unwrapped data key, which must not leave this process. */
export interface DataKey {
  readonly keyId: string;
  readonly key: Buffer;
}

export interface KeyRow {
  readonly key_id: string;
  readonly script_id: string;
  readonly master_key_id: string;
  readonly wrapped_key: Buffer;
}

type KeyPlace = Pick<KeyRow, 'key_id' | 'script_id'>;

/** The current key comes first. The others unwrap older data keys during a rotation. */
export type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

const nonceBytes = 12;

export class DataKeys {
  readonly #db: Queryable;
  readonly #masterKeys: MasterKeys;
  readonly #ids: Ids;

  constructor(db: Queryable, masterKeys: MasterKeys, ids: Ids) {
    this.#db = db;
    this.#masterKeys = masterKeys;
    this.#ids = ids;
  }

  /** Returns the script's data key, which is created if it does not exist.
   *  @throws UnreadableSecret if an unknown master key wrapped the data key */
  async ofScript(scriptId: string): Promise<DataKey> {
    const { rows } = await this.#db.query<KeyRow>(statements.byScript, [scriptId]);
    if (rows[0] !== undefined) return this.#unwrap(rows[0]);
    const keyId = this.#ids.next();
    const place = { key_id: keyId, script_id: scriptId };
    const wrapped = wrapDataKey(this.#masterKeys[0], randomBytes(keyBytes), place);
    await this.#db.query(statements.put, [keyId, scriptId, this.#present, wrapped]);
    // Another process created the key first.
    return await this.ofScript(scriptId);
  }

  /** @throws UnreadableSecret if the key was destroyed, or if an unknown master key wrapped it */
  async byId(keyId: string): Promise<DataKey> {
    const { rows } = await this.#db.query<KeyRow>(statements.byId, [keyId]);
    if (rows[0] === undefined) throw new UnreadableSecret('its data key was destroyed');
    return this.#unwrap(rows[0]);
  }

  /** Rewraps data keys that other known master keys wrapped, using the current master key.
   *  @returns the number of data keys that cannot be unwrapped */
  async rewrap(): Promise<number> {
    const { rows } = await this.#db.query<KeyRow>(statements.others, [this.#present]);
    let left = 0;
    for (const row of rows) {
      const wrapped = this.#rewrapped(row);
      if (wrapped === undefined) left += 1;
      else {
        const { key_id: keyId, master_key_id: before } = row;
        await this.#db.query(statements.rewrap, [keyId, before, this.#present, wrapped]);
      }
    }
    return left;
  }

  #rewrapped(row: KeyRow): Buffer | undefined {
    try {
      return rewrapDataKey(this.#masterKeys, row);
    } catch (error) {
      if (error instanceof UnreadableSecret) return undefined;
      throw error;
    }
  }

  get #present(): string {
    return keyName(this.#masterKeys[0]);
  }

  #unwrap(row: KeyRow): DataKey {
    return { keyId: row.key_id, key: unwrapDataKey(this.#masterKeys, row) };
  }
}

/** Wraps a data key with a master key, bound to its owner. */
export function wrapDataKey(masterKey: Uint8Array, key: Uint8Array, place: KeyPlace): Buffer {
  const { nonce, ciphertext } = close(masterKey, key, contextOf(place));
  return Buffer.concat([nonce, ciphertext]);
}

/** Rewraps a data key with the current master key.
 *  @throws UnreadableSecret if no known master key can unwrap the data key */
export function rewrapDataKey(masterKeys: MasterKeys, row: KeyRow): Buffer {
  return wrapDataKey(masterKeys[0], unwrapDataKey(masterKeys, row), row);
}

/** @param masterKeys all known master keys
 *  @throws UnreadableSecret if none of the master keys can unwrap the data key */
export function unwrapDataKey(masterKeys: readonly Uint8Array[], row: KeyRow): Buffer {
  const masterKey = masterKeys.find((key) => keyName(key) === row.master_key_id);
  if (masterKey === undefined) {
    throw new UnreadableSecret('its data key was created with a different SECRET_MASTER_KEY');
  }
  const nonce = row.wrapped_key.subarray(0, nonceBytes);
  const ciphertext = row.wrapped_key.subarray(nonceBytes);
  return open(masterKey, { nonce, ciphertext }, contextOf(row));
}

function contextOf({ key_id: keyId, script_id: scriptId }: KeyPlace) {
  return ['data key', scriptId, keyId];
}

/** Destroys the data keys of the script and its webhooks, so that no copy of their secrets can be decrypted. */
export async function destroyDataKey(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.destroy, [scriptId]);
}

/** Destroys the data key of an owner that has no secrets. */
export async function destroyUnusedDataKey(pool: pg.Pool, ownerId: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    // A concurrent secret update either commits first, so that its key is in use, or commits later with a new key.
    await client.query(lockStreams, [
      ['secret', 'group_secret', 'webhook', 'user'].map((type) => `${type}-${ownerId}`),
    ]);
    await client.query(statements.destroyUnused, [ownerId]);
  });
}

/** Destroys unused data keys. Such keys remain if a process crashes after deleting the last secret but before
 *  destroying its key.
 *  @param limit the maximum number of keys per call */
export async function destroyUnusedDataKeys(pool: pg.Pool, limit: number): Promise<void> {
  const { rows } = await pool.query<{ script_id: string }>(statements.unused, [limit]);
  for (const { script_id: scriptId } of rows) await destroyUnusedDataKey(pool, scriptId);
}
