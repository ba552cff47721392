/** Stores signed heads of the audit chain permanently. */
import type { ChainHead, HeadSigner, SignedHead } from '#infra/audit/head-signer.ts';
import type { Queryable } from '../database.ts';

const statements = {
  newest: `SELECT audit_seq, hash FROM audit ORDER BY audit_seq DESC LIMIT 1`,
  key: `INSERT INTO audit_keys (key_id, public_key, first_used_at) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING`,
  save: `INSERT INTO audit_heads (audit_seq, hash, time, key_id, signature) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING`,
  read: `SELECT audit_seq, hash, time, key_id, signature FROM audit_heads
    WHERE audit_seq = $1 AND key_id = $2`,
  list: `SELECT audit_seq, hash, time, key_id, signature FROM audit_heads
    WHERE (audit_seq, key_id) < ($1, $2) ORDER BY audit_seq DESC, key_id DESC LIMIT $3`,
  between: `SELECT audit_seq, hash, time, key_id, signature FROM audit_heads
    WHERE audit_seq > $1 AND audit_seq <= $2 ORDER BY audit_seq, key_id`,
  keys: `SELECT key_id, public_key FROM audit_keys`,
};

/** Returns the newest entry, or `undefined` if the log is empty. */
export async function newestEntry(db: Queryable): Promise<ChainHead | undefined> {
  return (await db.query<{ audit_seq: number; hash: string }>(statements.newest, [])).rows[0];
}

/** Signs an entry of the chain and stores the signed head. Each entry is signed once per key.
 *  @returns the stored head */
export async function saveHead(
  db: Queryable,
  signer: HeadSigner,
  entry: ChainHead,
  now: Date,
): Promise<SignedHead> {
  const head = signer.sign(entry, now);
  const { audit_seq, hash, time, key_id, signature } = head;
  await db.query(statements.key, [key_id, signer.publicKey, now]);
  await db.query(statements.save, [audit_seq, hash, time, key_id, signature]);
  const { rows } = await db.query<SignedHead>(statements.read, [audit_seq, key_id]);
  return rows[0] ?? head;
}

/** The position of a head. The next page starts after this position. */
export interface HeadPlace {
  readonly auditSeq: number;
  readonly keyId: string;
}

/** Lists signed heads after a position, newest first. */
export async function listHeads(
  db: Queryable,
  after: HeadPlace | undefined,
  limit: number,
): Promise<readonly SignedHead[]> {
  const values = [after?.auditSeq ?? Number.MAX_SAFE_INTEGER, after?.keyId ?? '', limit];
  return (await db.query<SignedHead>(statements.list, values)).rows;
}

/** Returns the heads of the entries with numbers above `from` and up to `to`. */
export async function headsBetween(
  db: Queryable,
  from: number,
  to: number,
): Promise<readonly SignedHead[]> {
  return (await db.query<SignedHead>(statements.between, [from, to])).rows;
}

/** Returns the public keys (PEM) of all keys that signed heads, by key ID. */
export async function publicKeys(db: Queryable): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ key_id: string; public_key: string }>(statements.keys, []);
  return new Map(rows.map((row) => [row.key_id, row.public_key]));
}
