import type { GroupId } from '#domain/kernel/ids.ts';
import type { NoticePosted } from './events.ts';

/** Sent by the runtime on behalf of a script, and by the platform for its runs. */
export type PostNotice = Omit<NoticePosted['data'], 'groupId'> & {
  readonly type: 'PostNotice';
  /** Absent: the group of the script, or no group for a notice about the platform. */
  readonly groupId?: GroupId;
};

export type NoticeCommand = PostNotice;
