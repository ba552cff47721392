import type { RuleEvent } from './events.ts';
import type { RuleSettings } from './rule.ts';

export type RuleState =
  | { readonly status: 'absent' }
  | { readonly status: 'there'; readonly settings: RuleSettings }
  | { readonly status: 'deleted' };

export const initialRule: RuleState = { status: 'absent' };

export function evolveRule(_state: RuleState, event: RuleEvent): RuleState {
  switch (event.type) {
    case 'RuleCreated':
    case 'RuleChanged':
      return { status: 'there', settings: event.data.settings };
    case 'RuleDeleted':
      return { status: 'deleted' };
  }
}
