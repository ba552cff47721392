/** Signs the head of the audit chain, so that removed or changed entries can be detected. */
import type { HeadSigner } from '#infra/audit/head-signer.ts';
import { newestEntry, saveHead } from '#infra/postgres/operations/audit-heads.ts';
import type { Queryable } from '#infra/postgres/database.ts';

/** Signs the newest entry, unless it is already signed. */
export async function signNewestEntry(db: Queryable, signer: HeadSigner, now: Date): Promise<void> {
  const entry = await newestEntry(db);
  if (entry !== undefined) await saveHead(db, signer, entry, now);
}
