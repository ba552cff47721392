import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { describeOutcome } from '#domain/notification/notification.ts';
import { statusOf } from '#domain/run/run.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice about a failed run to the inbox of the script's group. Requires no configuration (contract §3,
 *  "Notification"). The inbox combines the notices of an error group into one entry. Ignored errors cause no notice. */
export const whenRunFailedPostNotice: Reaction = {
  name: 'when-run-failed-post-notice',
  handles: ['RunFinished'],
  react: async (event, reads, newId) => {
    if (event.type !== 'RunFinished' || statusOf(event.data.outcome) !== 'failed') {
      return [];
    }
    const { runId, scriptId, error } = event.data;
    const group = error && (await reads.errorGroupOf(runId));
    if (group?.isIgnored === true) return [];
    return [
      {
        type: 'PostNotice',
        noticeId: mustParse(parseNoticeId, newId('notice')),
        runId,
        scriptId,
        on: 'failed',
        ...(group && { errorGroupId: group.errorGroupId }),
        level: 'error',
        message: describeOutcome(event.data),
      },
    ];
  },
};
