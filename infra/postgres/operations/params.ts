/** Stores run parameters as JSON by hash, outside the events. */
import type { Queryable } from '../database.ts';

const read = `SELECT sha256, content FROM payloads WHERE sha256 = ANY($1)`;

/** Returns the parameters of several runs by hash. Purged parameters are omitted. */
export async function readParams(
  db: Queryable,
  hashes: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, unknown>> {
  const wanted = [...new Set(hashes.filter((hash) => hash !== null))];
  if (wanted.length === 0) return new Map();
  const { rows } = await db.query<{ sha256: string; content: Buffer }>(read, [wanted]);
  return new Map(rows.map((row) => [row.sha256, JSON.parse(row.content.toString()) as unknown]));
}
