import { mustParse, parseNoticeId } from '#domain/kernel/ids.ts';
import { alarmMessage } from '#domain/system/alarm-message.ts';
import type { Reaction } from './reaction.ts';

/** Posts a notice to the inbox of administrators when an alarm is raised or cleared. Requires no configuration. */
export const whenAlarmPostNotice: Reaction = {
  name: 'when-alarm-post-notice',
  handles: ['AlarmRaised', 'AlarmCleared'],
  react: (event, _reads, newId) => {
    if (event.type !== 'AlarmRaised' && event.type !== 'AlarmCleared') return Promise.resolve([]);
    const noticeId = mustParse(parseNoticeId, newId('notice'));
    const notice = { noticeId, runId: null, scriptId: null, ...alarmMessage(event) };
    return Promise.resolve([{ type: 'PostNotice', ...notice }]);
  },
};
