/** The wire format of notifications. */
import { notifiableEvents } from '#domain/notification/notification.ts';
import { noticeLevels } from '#domain/notice/events.ts';
import { maxUnread } from '#projections/notices/queries.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

const notificationExample = {
  id: examples.notificationId,
  time: examples.time,
  on: 'failed',
  level: 'error',
  message: 'The run failed with exit code 1.',
  script_id: examples.scriptId,
  script_name: 'Nightly report',
  group_id: examples.groupId,
  run_id: examples.runId,
  error_group_id: null,
  approval_id: null,
  count: 1,
  first_seen: examples.time,
  read: false,
};

const Notification = Type.Object(
  {
    id: Uuid(),
    time: Time(),
    on: Type.Enum(notifiableEvents, {
      description: 'Type of the notification. `message`: sent by the script itself.',
    }),
    level: Type.Enum(noticeLevels),
    message: Type.String(),
    script_id: Nullable(Uuid('`null` if the notification is about the platform.')),
    script_name: Nullable(Type.String()),
    group_id: Nullable(
      Uuid('The group whose users get the notification; `null` for administrators.'),
    ),
    run_id: Nullable(Uuid('The last run that the notification is about.')),
    error_group_id: Nullable(
      Uuid(
        'Failed runs with the same error share one notification. `null` for other notifications.',
      ),
    ),
    approval_id: Nullable(Uuid('The approval request that the notification is about.')),
    count: Type.Integer({
      minimum: 1,
      description: 'Number of failed runs with this error; 1 for other notifications.',
    }),
    first_seen: Time(),
    read: Type.Boolean({ description: 'Whether you have read the notification.' }),
  },
  {
    title: 'Notification',
    additionalProperties: false,
    examples: [notificationExample],
  },
);

export const NotificationPage = Type.Object(
  {
    ...Page('Notifications', Notification).properties,
    unread: Type.Integer({
      description: `Number of your unread notifications, counted up to ${maxUnread}.`,
    }),
  },
  {
    title: 'NotificationPage',
    additionalProperties: false,
    examples: [{ items: [notificationExample], next_cursor: null, unread: 1 }],
  },
);
