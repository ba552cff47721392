import type { NotifiableEvent } from '#domain/notification/notification.ts';
import type { NoticeLevel } from '#domain/notice/events.ts';
import type { Columns } from '../columns.ts';

export interface NoticesTable {
  readonly notice_id: string;
  readonly stream_version: number;
  readonly time: Date;
  readonly happening: NotifiableEvent;
  readonly level: NoticeLevel;
  readonly message: string;
  readonly script_id: string | null;
  readonly group_id: string | null;
  readonly run_id: string | null;
  readonly error_group_id: string | null;
  readonly change_id: string | null;
}

export const noticeColumns: Columns<NoticesTable> = {
  notice_id: 'uuid',
  stream_version: 'bigint',
  time: 'timestamptz',
  happening: 'text',
  level: 'text',
  message: 'text',
  script_id: 'uuid',
  group_id: 'uuid',
  run_id: 'uuid',
  error_group_id: 'uuid',
  change_id: 'uuid',
};
