import type { Recorded } from '#domain/aggregates.ts';
import type { NoticeEvent } from '#domain/notice/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { noticeColumns, type NoticesTable } from './table.ts';

/** Builds the notices in the inboxes of groups. */
export const noticesProjection: Projection = rowProjection<NoticesTable, Recorded<NoticeEvent>>({
  name: 'notices',
  version: 1,
  table: 'notices',
  key: 'notice_id',
  columns: noticeColumns,
  handles: ['NoticePosted'],
  keyOf: (event) => event.data.noticeId,
  step: (_row, event) => {
    switch (event.type) {
      case 'NoticePosted':
        return {
          notice_id: event.data.noticeId,
          time: event.recordedAt,
          happening: event.data.on ?? 'message',
          level: event.data.level,
          message: event.data.message,
          script_id: event.data.scriptId,
          group_id: event.data.groupId,
          run_id: event.data.runId,
          error_group_id: event.data.errorGroupId ?? null,
          change_id: event.data.changeId ?? null,
        };
    }
  },
});
