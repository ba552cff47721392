import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { rotationNews } from '#domain/rotation/news.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice to the inbox of the group when a secret becomes due for rotation, and when it is no longer due.
 *  Requires no configuration. */
export const whenRotationDuePostNotice: Reaction = {
  name: 'when-rotation-due-post-notice',
  handles: ['SecretRotationDue', 'SecretRotationCleared'],
  react: (event, _reads, newId) => {
    if (event.type !== 'SecretRotationDue' && event.type !== 'SecretRotationCleared') {
      return Promise.resolve([]);
    }
    const { scriptId, groupId } = event.data;
    const noticeId = mustParse(parseNoticeId, newId('notice'));
    const place = { noticeId, scriptId, runId: null, ...(groupId !== null && { groupId }) };
    return Promise.resolve([{ type: 'PostNotice', ...place, ...rotationNews(event) }]);
  },
};
