/** Stores password hashes. Events refer to a hash by its ID, so that an old hash can be destroyed. */
import type { Queryable } from '../database.ts';

const statements = {
  put: `INSERT INTO credentials (credential_id, password_hash) VALUES ($1, $2)
    ON CONFLICT DO NOTHING`,
  get: `SELECT password_hash FROM credentials WHERE credential_id = $1`,
};

/** Stores a hash under its ID before an event refers to the hash. Does not replace an existing hash. */
export async function putCredential(
  db: Queryable,
  credentialId: string,
  passwordHash: string,
): Promise<void> {
  await db.query(statements.put, [credentialId, passwordHash]);
}

/** Returns the hash for `credentialId`, or `undefined` if the hash was deleted. */
export async function getCredential(
  db: Queryable,
  credentialId: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ password_hash: string }>(statements.get, [credentialId]);
  return rows[0]?.password_hash;
}
