import type { GroupId } from '#domain/kernel/ids.ts';
import type { NoticePosted } from './events.ts';

/** Asked by the runtime for a script, and by the platform of its runs. */
export type PostNotice = Omit<NoticePosted['data'], 'groupId'> & {
  readonly type: 'PostNotice';
  /** Absent: the script's, and none where it is about the platform. */
  readonly groupId?: GroupId;
};

export type NoticeCommand = PostNotice;
