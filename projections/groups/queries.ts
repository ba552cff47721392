import type { GroupId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { GroupsTable } from './table.ts';

/** Lists groups, ordered by ID, starting after `after`. Returns at most `limit` groups. `groupIds` are the groups to
 *  include, and `null` means all groups. */
export async function listGroups(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  after: GroupId | undefined,
  limit: number,
): Promise<readonly GroupsTable[]> {
  let query = db.selectFrom('groups').selectAll().orderBy('group_id').limit(limit);
  if (after !== undefined) query = query.where('group_id', '>', after);
  if (groupIds !== null) {
    query = query.where(sql<boolean>`group_id = ANY(${groupIds}::uuid[])`);
  }
  return await query.execute();
}
