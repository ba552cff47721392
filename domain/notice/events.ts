/** Notices in the inbox, posted by scripts or about runs. Each notice has its own stream `notice-<id>`. Permanent:
 *  never rename a type or change the meaning of a field. */
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
    /** The run that the notice is about. `null` if the notice is not about a run. */
    readonly runId: RunId | null;
    /** `null` for a notice about the platform. */
    readonly scriptId: ScriptId | null;
    /** The group whose members see the notice. `null` means that only users who see all groups see the notice. */
    readonly groupId: GroupId | null;
    /** The event that the notice reports. Absent if a script posted the message itself. */
    readonly on?: NotifiableEvent;
    /** The error group of the failed run. Absent if the run has no error, and in events from old releases. */
    readonly errorGroupId?: ErrorGroupId;
    /** The requested change that the notice is about. Absent if the notice is not about a change. */
    readonly changeId?: ChangeId;
    readonly level: NoticeLevel;
    /** The message, with secrets masked. */
    readonly message: string;
  }
>;

export type NoticeEvent = NoticePosted;
