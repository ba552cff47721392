import type { GroupId, NoticeId, ScriptId, UserId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import { noticeColumns, type NoticesTable } from './table.ts';

/** An inbox entry as a user sees it. The entry contains either the newest notice of an error group, or a single
 *  notice without an error group. */
export type ReadNotice = NoticesTable & {
  /** The number of notices that the entry combines. */
  readonly count: number;
  /** The time of the oldest combined notice. */
  readonly first_seen: Date;
  /** `null` if the notice is not about a script, or if the script has moved to a group that the user cannot see. */
  readonly script_name: string | null;
  readonly read: boolean;
};

export interface Inbox {
  readonly reader: UserId;
  /** Includes the notices of these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
}

export interface InboxFilter {
  readonly unread: boolean;
  /** Includes only notices of this script. `null` means all scripts. */
  readonly scriptId: ScriptId | null;
}

// Notices of purged scripts are excluded.
const those = `FROM (SELECT n.*, s.name AS script_name, s.group_id AS script_group_id
  FROM notices n LEFT JOIN scripts s ON s.script_id = n.script_id
  WHERE n.script_id IS NULL OR (s.script_id IS NOT NULL AND s.purge IS NULL)) n`;
/** Returns an SQL condition that a newer notice of the same error group exists. @param where restricts the newer
 *  notices */
const isRepeated = (where = 'true') => `EXISTS (SELECT FROM notices later
  WHERE later.error_group_id = n.error_group_id AND later.notice_id > n.notice_id AND ${where})`;
const isRead = `EXISTS (SELECT FROM notice_reads r
  WHERE r.user_id = $1 AND r.notice_id = n.notice_id)`;
const isIn = `($2::uuid[] IS NULL OR n.group_id = ANY($2))`;

/** Lists inbox entries, newest first, starting after `after`. Returns at most `limit` entries. */
export async function listNotices(
  db: ReadModels,
  { reader, groupIds }: Inbox,
  { unread, scriptId }: InboxFilter,
  after: NoticeId | undefined,
  limit: number,
): Promise<readonly ReadNotice[]> {
  return await manyNotices(db, reader, groupIds, unread, scriptId, after ?? null, limit);
}

const manyNotices = statement<ReadNotice>(`
  SELECT ${Object.keys(noticeColumns)
    .map((column) => `n.${column}`)
    .join(', ')}, ${isRead} AS read,
    CASE WHEN $2::uuid[] IS NULL OR script_group_id = ANY($2) THEN script_name END AS script_name,
    coalesce(of_error.count, 1)::integer AS count, coalesce(of_error.first_seen, n.time) AS first_seen
  ${those} LEFT JOIN LATERAL (SELECT count(*), min(o.time) AS first_seen FROM notices o
    WHERE o.error_group_id = n.error_group_id) of_error ON n.error_group_id IS NOT NULL
  WHERE ${isIn} AND NOT ${isRepeated('($4::uuid IS NULL OR later.script_id = $4)')} AND (NOT $3 OR NOT ${isRead}) AND ($4::uuid IS NULL OR n.script_id = $4)
    AND ($5::uuid IS NULL OR n.notice_id < $5)
  ORDER BY n.notice_id DESC LIMIT $6`);

/** The maximum number of unread entries that is reported. */
export const maxUnread = 1000;

/** Returns the number of unread entries in an inbox. Counting stops at {@link maxUnread}. */
export async function countUnread(db: ReadModels, { reader, groupIds }: Inbox): Promise<number> {
  const [row] = await unreadNotices(db, reader, groupIds, maxUnread);
  return row?.count ?? 0;
}

const unreadNotices = statement<{ readonly count: number }>(`
  SELECT count(*) FROM (SELECT ${those} WHERE ${isIn} AND NOT ${isRepeated()} AND NOT ${isRead} LIMIT $3) unread`);

/** The group of a notice. Null if the notice is about the platform. */
export interface NoticeOwner {
  readonly id: string;
  readonly script_id: string | null;
  /** `null` if the notice is visible only to users who see all groups. */
  readonly group_id: string | null;
}

/** Returns the groups of notices. Notices that do not exist are omitted. */
export async function findNoticeOwners(
  db: ReadModels,
  noticeIds: readonly string[],
): Promise<readonly NoticeOwner[]> {
  return await ownersOfNotices(db, noticeIds);
}

const ownersOfNotices = statement<NoticeOwner>(`
  SELECT n.notice_id AS id, n.script_id, n.group_id ${those} WHERE n.notice_id = ANY($1::uuid[])`);
