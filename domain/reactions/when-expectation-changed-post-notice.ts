import { expectationNews } from '#domain/expectation/news.ts';
import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice to the inbox of the script's group when an expectation is missed, and when it is met again. Requires
 *  no configuration. */
export const whenExpectationChangedPostNotice: Reaction = {
  name: 'when-expectation-changed-post-notice',
  handles: ['ExpectationMissed', 'ExpectationCleared'],
  react: (event, _reads, newId) => {
    if (event.type !== 'ExpectationMissed' && event.type !== 'ExpectationCleared') {
      return Promise.resolve([]);
    }
    const { scriptId, runId } = event.data;
    const noticeId = mustParse(parseNoticeId, newId('notice'));
    const news = expectationNews(event);
    return Promise.resolve([{ type: 'PostNotice', noticeId, scriptId, runId, ...news }]);
  },
};
