/** Records which users have read which notices. */
import type { GroupId, NoticeId, UserId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

const statements = {
  one: `INSERT INTO notice_reads (user_id, notice_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
  all: `INSERT INTO notice_reads (user_id, notice_id)
    SELECT $1, notice_id FROM notices n WHERE ($2::uuid[] IS NULL OR group_id = ANY($2))
      AND NOT EXISTS (SELECT FROM notice_reads r WHERE r.user_id = $1 AND r.notice_id = n.notice_id)
    ON CONFLICT DO NOTHING`,
};

export async function markRead(db: Queryable, reader: UserId, noticeId: NoticeId): Promise<void> {
  await db.query(statements.one, [reader, noticeId]);
}

/** Marks all notices that the reader can currently see as read.
 *  @param groupIds the reader's groups, or `null` for all groups */
export async function markAllRead(
  db: Queryable,
  reader: UserId,
  groupIds: readonly GroupId[] | null,
): Promise<void> {
  await db.query(statements.all, [reader, groupIds]);
}
