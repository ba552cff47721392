import type { DisclosureEvent } from './events.ts';

export type DisclosureState = { readonly status: 'absent' } | { readonly status: 'recorded' };

export const initialDisclosure: DisclosureState = { status: 'absent' };

export function evolveDisclosure(_state: DisclosureState, event: DisclosureEvent): DisclosureState {
  switch (event.type) {
    case 'DataDisclosed':
      return { status: 'recorded' };
  }
}
