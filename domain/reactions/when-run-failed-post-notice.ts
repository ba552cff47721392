import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { endingOf } from '#domain/notification/notification.ts';
import { statusOf } from '#domain/run/run.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice about a failed run to the inbox of its script's group. Requires no configuration (contract §3,
 *  "Notification"). */
export const whenRunFailedPostNotice: Reaction = {
  name: 'when-run-failed-post-notice',
  handles: ['RunFinished'],
  react: (event, _reads, newId) => {
    if (event.type !== 'RunFinished' || statusOf(event.data.outcome) !== 'failed') {
      return Promise.resolve([]);
    }
    const { runId, scriptId } = event.data;
    return Promise.resolve([
      {
        type: 'PostNotice',
        noticeId: mustParse(parseNoticeId, newId('notice')),
        runId,
        scriptId,
        on: 'failed',
        level: 'error',
        message: endingOf(event.data),
      },
    ]);
  },
};
