import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { repositoryNews } from '#domain/repository/news.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice to the inbox of administrators when the syncs of a repository start to fail, and when a sync
 *  succeeds again. Requires no configuration. */
export const whenRepositoryFailsPostNotice: Reaction = {
  name: 'when-repository-fails-post-notice',
  handles: ['RepositoryFailureStarted', 'RepositoryFailureEnded'],
  react: (event, _reads, newId) => {
    if (event.type !== 'RepositoryFailureStarted' && event.type !== 'RepositoryFailureEnded')
      return Promise.resolve([]);
    const noticeId = mustParse(parseNoticeId, newId('notice'));
    const notice = { noticeId, runId: null, scriptId: null, ...repositoryNews(event) };
    return Promise.resolve([{ type: 'PostNotice', ...notice }]);
  },
};
