import type { ErrorGroupEvent } from './events.ts';

export type ErrorGroupState =
  | { readonly status: 'open' }
  | { readonly status: 'resolved'; readonly version: number | null }
  | { readonly status: 'ignored'; readonly until: string | null };

export const initialErrorGroup: ErrorGroupState = { status: 'open' };

export function evolveErrorGroup(_state: ErrorGroupState, event: ErrorGroupEvent): ErrorGroupState {
  switch (event.type) {
    case 'ErrorGroupResolved':
      return { status: 'resolved', version: event.data.version };
    case 'ErrorGroupIgnored':
      return { status: 'ignored', until: event.data.until };
    case 'ErrorGroupReopened':
      return { status: 'open' };
  }
}
