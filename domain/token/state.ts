import type { TokenEvent } from './events.ts';

export type TokenState =
  | { readonly status: 'absent' }
  | { readonly status: 'issued' }
  | { readonly status: 'revoked' };

export const initialToken: TokenState = { status: 'absent' };

export function evolveToken(_state: TokenState, event: TokenEvent): TokenState {
  switch (event.type) {
    case 'TokenIssued':
      return { status: 'issued' };
    case 'TokenRevoked':
      return { status: 'revoked' };
  }
}
