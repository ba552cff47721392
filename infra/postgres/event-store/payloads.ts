/** Stores content that events refer to by hash. This includes the parameters of runs, schedules and chains, webhook
 *  bodies, and outputs that runs passed to other runs. */
import { createHash } from 'node:crypto';
import { together } from '#projections/projection.ts';
import type { Queryable } from '../database.ts';

// The references that protect a payload from a purge. New kinds of references must also be added to `sweep`.
const ofAnotherScript = `(
  EXISTS (SELECT FROM runs r WHERE r.params_sha256 = payloads.sha256 AND r.script_id <> $2)
  OR EXISTS (SELECT FROM runs r
    WHERE r.trigger ->> 'payloadSha256' = payloads.sha256 AND r.script_id <> $2)
  OR EXISTS (SELECT FROM schedules c
    WHERE c.params_sha256 = payloads.sha256 AND NOT c.deleted AND c.script_id <> $2)
  OR EXISTS (SELECT FROM chains c
    WHERE c.params_sha256 = payloads.sha256 AND NOT c.deleted AND c.target_script_id <> $2))`;

const statements = {
  // A payload requested within the last minute is not rewritten, because it cannot have been removed yet.
  put: `INSERT INTO payloads (sha256, content) SELECT $1, $2
    WHERE NOT EXISTS (SELECT FROM payloads
      WHERE sha256 = $1 AND wanted_at > now() - interval '1 minute')
    ON CONFLICT (sha256) DO UPDATE SET wanted_at = now()`,
  get: `SELECT content FROM payloads WHERE sha256 = $1`,
  keep: `UPDATE payloads SET wanted_at = now() WHERE sha256 = $1`,
  // Checks the payload's own row again, because another process may request the payload at the same time.
  sweep: `DELETE FROM payloads WHERE wanted_at < $1 AND sha256 IN (
    SELECT sha256 FROM payloads p WHERE wanted_at < $1 AND NOT EXISTS (
      SELECT FROM runs r WHERE r.params_sha256 = p.sha256
        AND (r.finished_at IS NULL OR r.finished_at >= $1))
      AND NOT EXISTS (SELECT FROM schedules c JOIN scripts s USING (script_id)
        WHERE c.params_sha256 = p.sha256 AND NOT c.deleted AND s.purge IS NULL)
      AND NOT EXISTS (SELECT FROM chains c JOIN scripts s ON s.script_id = c.target_script_id
        WHERE c.params_sha256 = p.sha256 AND NOT c.deleted AND s.purge IS NULL)
      AND NOT EXISTS (
      SELECT FROM runs r WHERE r.trigger ->> 'payloadSha256' = p.sha256
        AND (r.finished_at IS NULL OR r.finished_at >= $1))
    ORDER BY wanted_at LIMIT $2)`,
  // A run with this payload may be about to start.
  purge: `DELETE FROM payloads WHERE sha256 = ANY($1)
    AND wanted_at < now() - interval '5 minutes' AND NOT ${ofAnotherScript}`,
  left: `SELECT EXISTS (SELECT FROM payloads
    WHERE sha256 = ANY($1) AND NOT ${ofAnotherScript}) AS some`,
};

/** Returns the name of a payload: the SHA-256 of its content in lower-case hex. */
export function payloadName(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Stores `content`. Identical content is stored only once.
 *  @returns the payload's name */
export async function putPayload(db: Queryable, content: Uint8Array): Promise<string> {
  const sha256 = payloadName(content);
  await db.query(statements.put, [sha256, content]);
  return sha256;
}

/** Stores several payloads in a fixed order, so that concurrent transactions with the same payloads do not deadlock.
 *  @param client the client of a transaction */
export async function putPayloads(
  client: Queryable,
  contents: readonly Uint8Array[],
): Promise<void> {
  const named = new Map(contents.map((content) => [payloadName(content), content]));
  const inOrder = [...named].toSorted(([one], [other]) => (one < other ? -1 : 1));
  await together(
    inOrder.map(([sha256, content]) => client.query(statements.put, [sha256, content])),
  );
}

/** Returns the content for a hash, or `undefined` if the content was never stored or has been removed. */
export async function getPayload(db: Queryable, sha256: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ content: Buffer }>(statements.get, [sha256]);
  return rows[0]?.content;
}

/** Protects an existing payload from removal for a few minutes, because a run that uses the payload is about to be
 *  queued.
 *  @returns false if the payload has been removed */
export async function keepPayload(db: Queryable, sha256: string): Promise<boolean> {
  return (await db.query(statements.keep, [sha256])).rowCount === 1;
}

/** Removes at most `limit` payloads that are not in use. A payload is in use if a schedule or chain refers to it,
 *  if it was requested recently, or if a run that uses it is active or ended at or after `before`.
 *  @param before at least a day ago
 *  @returns the number of removed payloads */
export async function sweepPayloads(db: Queryable, before: Date, limit: number): Promise<number> {
  return (await db.query(statements.sweep, [before, limit])).rowCount ?? 0;
}

/** Removes payloads that no run, schedule or chain of another script uses. Payloads that were requested recently are
 *  kept.
 *  @returns whether all given payloads are removed */
export async function purgePayloads(
  db: Queryable,
  scriptId: string,
  hashes: readonly string[],
): Promise<boolean> {
  if (hashes.length === 0) return true;
  await db.query(statements.purge, [hashes, scriptId]);
  const { rows } = await db.query<{ some: boolean }>(statements.left, [hashes, scriptId]);
  return rows[0]?.some === false;
}
