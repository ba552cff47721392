import type { NoticePosted } from './events.ts';

/** Asked by the runtime for a script. */
export type PostNotice = Omit<NoticePosted['data'], 'groupId'> & { readonly type: 'PostNotice' };

export type NoticeCommand = PostNotice;
