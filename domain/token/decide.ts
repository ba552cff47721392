import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { TokenCommand } from './commands.ts';
import type { TokenEvent } from './events.ts';
import { evolveToken, initialToken, type TokenState } from './state.ts';

export function decideToken(state: TokenState, command: TokenCommand): Decision<TokenEvent> {
  switch (command.type) {
    case 'IssueToken': {
      if (state.status !== 'absent') return accept();
      const unusable = newNameProblem('name', command.name);
      if (unusable !== undefined) return refuse('validation_failed', unusable);
      const { type: _, ...data } = command;
      return accept({ type: 'TokenIssued', data });
    }
    case 'RevokeToken':
      if (state.status === 'absent') return refuse('not_found', 'Token not found.');
      if (state.status === 'revoked') return accept();
      return accept({ type: 'TokenRevoked', data: { tokenId: command.tokenId } });
  }
}

export const tokenAggregate: Aggregate<TokenState, TokenCommand, TokenEvent> = {
  streamType: 'token',
  commands: { IssueToken: true, RevokeToken: true },
  events: { TokenIssued: true, TokenRevoked: true },
  initial: initialToken,
  evolve: evolveToken,
  stateVersion: 1,
  decide: decideToken,
  streamOf: (command) => `token-${command.tokenId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
