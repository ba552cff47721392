import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { approvalNews } from '#domain/run/approval-news.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice to the inbox of the script's group when a run requires an approval, and when the request has ended.
 *  Requires no configuration. */
export const whenApprovalChangedPostNotice: Reaction = {
  name: 'when-approval-changed-post-notice',
  handles: [
    'RunApprovalRequested',
    'RunApproved',
    'RunRejected',
    'RunApprovalExpired',
    'RunApprovalWithdrawn',
  ],
  react: (event, _reads, newId) => {
    switch (event.type) {
      case 'RunApprovalRequested':
      case 'RunApproved':
      case 'RunRejected':
      case 'RunApprovalExpired':
      case 'RunApprovalWithdrawn': {
        const { scriptId, runId } = event.data;
        const noticeId = mustParse(parseNoticeId, newId('notice'));
        const news = approvalNews(event);
        return Promise.resolve([{ type: 'PostNotice', noticeId, scriptId, runId, ...news }]);
      }
      default:
        return Promise.resolve([]);
    }
  },
};
