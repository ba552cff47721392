import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { UserCommand } from './commands.ts';
import type { UserEvent } from './events.ts';
import { evolveUser, initialUser, type UserState } from './state.ts';

export interface UserDecisionFacts {
  readonly emailTaken: boolean;
}

export function decideUser(
  state: UserState,
  command: UserCommand,
  facts: UserDecisionFacts,
): Decision<UserEvent> {
  switch (command.type) {
    case 'CreateUser': {
      if (state.status !== 'absent') return accept();
      if (facts.emailTaken) return refuse('already_exists', 'The e-mail address is taken.');
      const { type: _, ...data } = command;
      return accept({ type: 'UserCreated', data });
    }
  }
}

export const userAggregate: Aggregate<UserState, UserCommand, UserEvent, UserDecisionFacts> = {
  streamType: 'user',
  initial: initialUser,
  evolve: evolveUser,
  stateVersion: 1,
  decide: decideUser,
  streamOf: (command) => `user-${command.userId}`,
  guards: () => [],
  gather: async (command, world) => ({ emailTaken: await world.emailTaken(command.email) }),
};
