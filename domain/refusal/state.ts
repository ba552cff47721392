import type { RefusalEvent } from './events.ts';

export type RefusalState = { readonly status: 'absent' } | { readonly status: 'recorded' };

export const initialRefusal: RefusalState = { status: 'absent' };

export function evolveRefusal(_state: RefusalState, event: RefusalEvent): RefusalState {
  switch (event.type) {
    case 'RequestRefused':
      return { status: 'recorded' };
  }
}
