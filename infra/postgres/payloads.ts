/** Bodies that events name by hash: parameters of runs. */
import { createHash } from 'node:crypto';
import type { Queryable } from './database.ts';

const statements = {
  put: `INSERT INTO payloads (sha256, content) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
  get: `SELECT content FROM payloads WHERE sha256 = $1`,
};

/** Keeps `content`; the same content again is kept once. @returns its SHA-256 in lower-case hex */
export async function putPayload(db: Queryable, content: Uint8Array): Promise<string> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  await db.query(statements.put, [sha256, content]);
  return sha256;
}

/** The content of a hash; `undefined` when it was never kept or has been purged. */
export async function getPayload(db: Queryable, sha256: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ content: Buffer }>(statements.get, [sha256]);
  return rows[0]?.content;
}
