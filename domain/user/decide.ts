import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import { emailProblem, newNameProblem } from '#domain/kernel/names.ts';
import type { ChangeUser, UserCommand } from './commands.ts';
import type { UserEvent, UserSettings } from './events.ts';
import { evolveUser, initialUser, type UserState } from './state.ts';

export interface UserDecisionFacts {
  readonly emailTaken: boolean;
  /** Whether another user is an enabled administrator. */
  readonly otherAdministrator: boolean;
}

export function decideUser(
  state: UserState,
  command: UserCommand,
  facts: UserDecisionFacts,
): Decision<UserEvent> {
  if (command.type === 'CreateUser') {
    if (state.status !== 'absent') return accept();
    const unusable = emailProblem(command.email) ?? newNameProblem('name', command.name);
    if (unusable !== undefined) return refuse('validation_failed', unusable);
    if (facts.emailTaken)
      return refuse('already_exists', 'Another account already uses this e-mail address.');
    const { type: _, ...data } = command;
    return accept({ type: 'UserCreated', data });
  }
  if (state.status === 'absent') return refuse('not_found', 'Account not found.');
  const { userId } = command;
  switch (command.type) {
    case 'ChangeUser':
      return change(state.settings, command, facts);
    case 'ChangeUserPassword': {
      if (command.credentialId === state.credentialId) return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'UserPasswordChanged', data });
    }
    case 'LeaveGroup': {
      const groupIds = state.settings.groupIds.filter((id) => id !== command.groupId);
      if (groupIds.length === state.settings.groupIds.length) return accept();
      return accept({ type: 'UserChanged', data: { userId, groupIds } });
    }
  }
}

function change(
  present: UserSettings,
  { userId, changes: wanted }: ChangeUser,
  { otherAdministrator }: UserDecisionFacts,
): Decision<UserEvent> {
  const changes = differing(present, wanted);
  if (Object.keys(changes).length === 0) return accept();
  const unusable = newNameProblem('name', changes.name);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  if (administers(present) && !administers({ ...present, ...changes }) && !otherAdministrator) {
    const detail = 'At least one administrator is required. Promote another user first.';
    return refuse('last_administrator', detail);
  }
  return accept({ type: 'UserChanged', data: { userId, ...changes } });
}

function administers({ role, disabled }: UserSettings): boolean {
  return role === 'administrator' && !disabled;
}

function differing(present: UserSettings, wanted: Partial<UserSettings>): Partial<UserSettings> {
  const names = Object.keys(wanted) as (keyof UserSettings)[];
  return Object.fromEntries(
    names
      .filter((name) => canonicalJson(wanted[name]) !== canonicalJson(present[name]))
      .map((name) => [name, wanted[name]]),
  );
}

/** Used as a lock only, never written to: its holder may demote or disable administrators. */
const administrators = 'user-administrators';

export const userAggregate: Aggregate<UserState, UserCommand, UserEvent, UserDecisionFacts> = {
  streamType: 'user',
  commands: { CreateUser: true, ChangeUser: true, ChangeUserPassword: true, LeaveGroup: true },
  events: { UserCreated: true, UserChanged: true, UserPasswordChanged: true },
  initial: initialUser,
  evolve: evolveUser,
  stateVersion: 2,
  decide: decideUser,
  streamOf: (command) => `user-${command.userId}`,
  guards: (command) => (command.type === 'ChangeUser' ? [administrators] : []),
  exclusiveGuards: (command) => (command.type === 'ChangeUser' ? [administrators] : []),
  readFacts: async (command, reads) => ({
    emailTaken: command.type === 'CreateUser' && (await reads.emailTaken(command.email)),
    otherAdministrator:
      command.type !== 'ChangeUser' || (await reads.otherAdministrator(command.userId)),
  }),
};
