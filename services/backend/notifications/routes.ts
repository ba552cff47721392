/** Lists the notification inbox, and marks notifications as read. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseNoticeId, parseScriptId } from '#domain/kernel/ids.ts';
import { headlineOf, type RunError } from '#domain/run/error/error.ts';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { markAllRead, markRead } from '#infra/postgres/operations/notice-reads.ts';
import {
  countUnread,
  findNoticeOwners,
  listNotices,
  type Inbox,
  type ReadNotice,
} from '#projections/notices/queries.ts';
import Type from 'typebox';
import { isIn, visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { nothing } from '../http/reply.ts';
import { pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import { NotificationPage } from './schema.ts';

const tag = 'Notifications';
const path = '/api/v1/notifications';
const access = { right: 'notifications.read' } as const;
const marking = { right: 'notifications.mark' } as const;

const list = operation({
  method: 'get',
  path,
  operationId: 'listNotifications',
  summary: 'Read your inbox, newest first',
  description:
    'Contains notifications for your groups: failed runs, messages from `platform.notify`, and ' +
    'notifications from rules. Each user has their own read marks.',
  tag,
  access,
  query: Type.Object(
    {
      ...pageQuery,
      unread: Type.Optional(Type.Boolean({ description: 'Only unread notifications.' })),
      script_id: Type.Optional(Uuid()),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: { description: 'One page of the list.', schema: NotificationPage, headers: ['Link'] },
  },
  handle: async ({ principal, query, url }, { database, readModels }) => {
    const { limit, cursor, unread = false, script_id: named } = query;
    const scriptId = named === undefined ? null : mustParse(parseScriptId, named);
    const inbox = inboxOf(principal);
    const request = {
      list: 'notifications',
      filter: { inbox, unread, scriptId },
      url,
      limit,
      cursor,
    };
    const after = keyOf(request, parseNoticeId);
    if (isProblem(after)) return after;
    const [rows, count] = await Promise.all([
      listNotices(readModels, inbox, { unread, scriptId }, after.key, (limit ?? defaultLimit) + 1),
      countUnread(readModels, inbox),
    ]);
    const failed = rows.flatMap((row) =>
      row.happening === 'failed' && row.run_id ? [row.run_id] : [],
    );
    const reports = await readReports(database, failed);
    return pageReply(
      request,
      rows,
      (row) => row.notice_id,
      (row) => noticeJson(row, reports.get(row.run_id ?? '')?.error),
      { unread: count },
    );
  },
});

const read = operation({
  method: 'post',
  path: `${path}/inbox/{notification_id}/read`,
  // The path contains `/inbox/`, because `/notifications/{id}` would be ambiguous with `/notifications/channels`.
  aliases: [{ path: `${path}/{notification_id}/read`, undescribed: true }],
  operationId: 'readNotification',
  summary: 'Mark a notification as read',
  tag,
  access: marking,
  parameters: { notification_id: pathParameters.notificationId },
  responses: { 204: { description: 'Marked as read.' } },
  handle: async ({ principal, parameters: { notification_id: id } }, { readModels, database }) => {
    const [notice] = await findNoticeOwners(readModels, [id]);
    if (notice === undefined || !isIn(principal, notice.group_id)) return notFound;
    await markRead(database, principal.userId, id);
    return nothing(204);
  },
});

const readAll = operation({
  method: 'post',
  path: `${path}/read-all`,
  operationId: 'readAllNotifications',
  summary: 'Mark all notifications in your inbox as read',
  tag,
  access: marking,
  responses: { 204: { description: 'All notifications are marked as read.' } },
  handle: async ({ principal }, { database }) => {
    const { reader, groupIds } = inboxOf(principal);
    await markAllRead(database, reader, groupIds);
    return nothing(204);
  },
});

function inboxOf(principal: Principal): Inbox {
  return { reader: principal.userId, groupIds: visibleGroups(principal) };
}

/** @param error the error of the run that the notification is about */
function noticeJson(notice: ReadNotice, error: RunError | null | undefined) {
  return {
    id: notice.notice_id,
    time: notice.time,
    on: notice.happening,
    level: notice.level,
    message: (error && headlineOf(error)) ?? notice.message,
    script_id: notice.script_id,
    script_name: notice.script_name,
    group_id: notice.group_id,
    run_id: notice.run_id,
    error_group_id: notice.error_group_id,
    approval_id:
      notice.change_id ?? (notice.happening === 'approval_requested' ? notice.run_id : null),
    count: notice.count,
    first_seen: notice.first_seen,
    read: notice.read,
  };
}

export const notificationOperations: readonly Operation[] = [list, read, readAll];
