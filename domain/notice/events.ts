/** Inbox notices from scripts and about their runs, each in its own stream `notice-<id>`. Permanent: never rename
 *  a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type {
  ChangeId,
  ErrorGroupId,
  GroupId,
  NoticeId,
  RunId,
  ScriptId,
} from '#domain/kernel/ids.ts';
import type { NotifiableEvent } from '#domain/notification/notification.ts';

export const noticeLevels = ['info', 'warning', 'error'] as const;
export type NoticeLevel = (typeof noticeLevels)[number];

export type NoticePosted = DomainEvent<
  'NoticePosted',
  {
    readonly noticeId: NoticeId;
    /** The run that the notice is about; `null` without a run. */
    readonly runId: RunId | null;
    /** `null` for a notice about the platform. */
    readonly scriptId: ScriptId | null;
    /** The group whose members see the notice. `null`: users who see all groups. */
    readonly groupId: GroupId | null;
    /** The event that the notice reports. Absent: the script itself posted the message. */
    readonly on?: NotifiableEvent;
    /** The error group of the failed run. Absent in events of earlier versions, and without an error. */
    readonly errorGroupId?: ErrorGroupId;
    /** The requested change that the notice is about. Absent: it is about no change. */
    readonly changeId?: ChangeId;
    readonly level: NoticeLevel;
    /** The message, with secrets masked. */
    readonly message: string;
  }
>;

export type NoticeEvent = NoticePosted;
