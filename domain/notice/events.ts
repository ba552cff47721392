/** What scripts have to say to people, each in a stream `notice-<id>` of its own. Stored for good: a type
 *  is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, NoticeId, RunId, ScriptId } from '#domain/kernel/ids.ts';

export const noticeLevels = ['info', 'warning', 'error'] as const;
export type NoticeLevel = (typeof noticeLevels)[number];

export type NoticePosted = DomainEvent<
  'NoticePosted',
  {
    readonly noticeId: NoticeId;
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    /** The script's at that moment: it is for the people of this group. */
    readonly groupId: GroupId;
    readonly level: NoticeLevel;
    /** With secrets masked. */
    readonly message: string;
  }
>;

export type NoticeEvent = NoticePosted;
