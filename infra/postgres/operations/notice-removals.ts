/** Removes expired notices and their read marks. Repeated or partial removals are harmless, because a mark whose notice
 *  is missing is later removed by age. */
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

const statements = {
  reads: `DELETE FROM notice_reads WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM notice_reads WHERE notice_id < $1 LIMIT $2))`,
  notices: `DELETE FROM notices WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM notices WHERE notice_id < $1 LIMIT $2))`,
  readsOfScript: `DELETE FROM notice_reads r USING notices n
    WHERE n.notice_id = r.notice_id AND n.script_id = $1`,
  ofScript: `DELETE FROM notices WHERE script_id = $1`,
};

/** Removes at most `limit` notices older than `before`.
 *  @returns whether `limit` was reached */
export async function removeOldNotices(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<boolean> {
  const bound = deriveTimeOrderedId('00000000-0000-0000-0000-000000000000', before);
  const reads = await db.query(statements.reads, [bound, limit]);
  const notices = await db.query(statements.notices, [bound, limit]);
  return reads.rowCount === limit || notices.rowCount === limit;
}

/** Removes all notices about a script. */
export async function removeNoticesOfScript(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.readsOfScript, [scriptId]);
  await db.query(statements.ofScript, [scriptId]);
}
