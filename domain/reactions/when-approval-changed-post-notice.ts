import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { approvalEvents, approvalNews, approvalSubject, isApprovalEvent } from './approval-news.ts';
import type { Reaction } from './reaction.ts';

/** Posts notices to the inbox of the script's group. A notice is posted when a run or a change requires an approval,
 *  and when the approval request ends. Requires no configuration. */
export const whenApprovalChangedPostNotice: Reaction = {
  name: 'when-approval-changed-post-notice',
  handles: approvalEvents,
  react: (event, _reads, newId) => {
    if (!isApprovalEvent(event)) return Promise.resolve([]);
    const noticeId = mustParse(parseNoticeId, newId('notice'));
    const { isRequest: _, ...news } = approvalNews(event);
    return Promise.resolve([{ type: 'PostNotice', noticeId, ...approvalSubject(event), ...news }]);
  },
};
