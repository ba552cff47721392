import type { PoolEvent } from './events.ts';

export type PoolState =
  | { readonly status: 'absent' | 'deleted' }
  | { readonly status: 'present'; readonly name: string; readonly limit: number };

export const initialPool: PoolState = { status: 'absent' };

export function evolvePool(state: PoolState, event: PoolEvent): PoolState {
  switch (event.type) {
    case 'PoolCreated': {
      const { name, limit } = event.data;
      return { status: 'present', name, limit };
    }
    case 'PoolChanged':
      return state.status === 'present' ? { ...state, limit: event.data.limit } : state;
    case 'PoolDeleted':
      return { status: 'deleted' };
  }
}
