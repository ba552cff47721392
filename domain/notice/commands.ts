import type { GroupId } from '#domain/kernel/ids.ts';
import type { NoticePosted } from './events.ts';

/** Sent by the runtime on behalf of a script, or by a reaction of the platform. */
export type PostNotice = Omit<NoticePosted['data'], 'groupId'> & {
  readonly type: 'PostNotice';
  /** If absent, the notice belongs to the script's group. A notice about the platform then belongs to no group. */
  readonly groupId?: GroupId;
};

export type NoticeCommand = PostNotice;
