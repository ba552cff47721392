/** What people are told by scripts and of their runs, each in a stream `notice-<id>` of its own. Stored for good: a type
 *  is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, NoticeId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { Happening } from '#domain/notification/notification.ts';

export const noticeLevels = ['info', 'warning', 'error'] as const;
export type NoticeLevel = (typeof noticeLevels)[number];

export type NoticePosted = DomainEvent<
  'NoticePosted',
  {
    readonly noticeId: NoticeId;
    /** `null` where it is about no run. */
    readonly runId: RunId | null;
    /** `null` where it is about the platform itself. */
    readonly scriptId: ScriptId | null;
    /** It is for the people of this group. `null`: for those who see all groups. */
    readonly groupId: GroupId | null;
    /** What it tells of. Absent: the script itself has said it, just now. */
    readonly on?: Happening;
    readonly level: NoticeLevel;
    /** With secrets masked. */
    readonly message: string;
  }
>;

export type NoticeEvent = NoticePosted;
