import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ChainSettings } from './chain.ts';
import type { ChainEvent } from './events.ts';

export type ChainState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly sourceScriptId: ScriptId;
      readonly settings: ChainSettings;
    }
  | { readonly status: 'deleted' };

export const initialChain: ChainState = { status: 'absent' };

export function evolveChain(state: ChainState, event: ChainEvent): ChainState {
  if (event.type === 'ChainCreated') {
    const { chainId: _, sourceScriptId, ...settings } = event.data;
    return { status: 'there', sourceScriptId, settings };
  }
  if (state.status !== 'there') return state;
  switch (event.type) {
    case 'ChainChanged': {
      const { chainId: _, ...changes } = event.data;
      return { ...state, settings: { ...state.settings, ...changes } };
    }
    case 'ChainDeleted':
      return { status: 'deleted' };
    case 'ChainSkipped':
      return state;
  }
}
