import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorGroupEvent } from './events.ts';

export type ErrorGroupState =
  | { readonly status: 'open' }
  | { readonly status: 'resolved'; readonly version: number | null; readonly scriptId?: ScriptId }
  | { readonly status: 'ignored'; readonly until: string | null };

export const initialErrorGroup: ErrorGroupState = { status: 'open' };

export function evolveErrorGroup(_state: ErrorGroupState, event: ErrorGroupEvent): ErrorGroupState {
  switch (event.type) {
    case 'ErrorGroupResolved': {
      const { version, scriptId } = event.data;
      return { status: 'resolved', version, ...(scriptId !== undefined && { scriptId }) };
    }
    case 'ErrorGroupIgnored':
      return { status: 'ignored', until: event.data.until };
    case 'ErrorGroupReopened':
      return { status: 'open' };
  }
}
