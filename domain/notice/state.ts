import type { NoticeEvent } from './events.ts';

export type NoticeState = { readonly status: 'absent' } | { readonly status: 'posted' };

export const initialNotice: NoticeState = { status: 'absent' };

export function evolveNotice(_state: NoticeState, event: NoticeEvent): NoticeState {
  switch (event.type) {
    case 'NoticePosted':
      return { status: 'posted' };
  }
}
