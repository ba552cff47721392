import type { ReadModels } from '../projection.ts';
import type { AuditTable } from './table.ts';

/** Newest first, from behind the entry number `before`; at most `limit` rows. */
export async function listAudit(
  db: ReadModels,
  before: number | undefined,
  limit: number,
): Promise<readonly AuditTable[]> {
  let query = db.selectFrom('audit').selectAll().orderBy('audit_seq', 'desc').limit(limit);
  if (before !== undefined) query = query.where('audit_seq', '<', before);
  return await query.execute();
}
