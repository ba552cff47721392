import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { mayUseStore, recordSecret, storeGuards } from '#domain/secret/decide.ts';
import { initialSecrets, type SecretsState } from '#domain/secret/state.ts';
import type { GroupSecretCommand } from './commands.ts';
import type { GroupSecretEvent } from './events.ts';
import { evolveGroupSecrets } from './state.ts';

export interface GroupSecretFacts {
  readonly groupExists: boolean;
  /** Whether the data key of the value still exists. True if the secret has no stored value. */
  readonly keyExists: boolean;
  /** Whether the group may read the secret store. True if the secret uses no store. */
  readonly mayUseStore: boolean;
}

export function decideGroupSecret(
  state: SecretsState,
  command: GroupSecretCommand,
  { groupExists, keyExists, mayUseStore: mayUse }: GroupSecretFacts,
): Decision<GroupSecretEvent> {
  if (!groupExists) return refuse('not_found', 'Group not found.');
  const { groupId, name } = command;
  switch (command.type) {
    case 'SetGroupSecret':
      return recordSecret(
        state,
        command,
        { owner: 'group', keyExists, mayUseStore: mayUse },
        (value) => ({ type: 'GroupSecretSet', data: { groupId, ...value } }),
      );
    case 'DeleteGroupSecret':
      return state.get(name)?.present === true
        ? accept({ type: 'GroupSecretDeleted', data: { groupId, name } })
        : refuse('not_found', 'Secret not found.');
  }
}

export const groupSecretAggregate: Aggregate<
  SecretsState,
  GroupSecretCommand,
  GroupSecretEvent,
  GroupSecretFacts
> = {
  streamType: 'group_secret',
  commands: { SetGroupSecret: true, DeleteGroupSecret: true },
  events: { GroupSecretSet: true, GroupSecretDeleted: true },
  initial: initialSecrets,
  evolve: evolveGroupSecrets,
  stateVersion: 1,
  decide: decideGroupSecret,
  streamOf: (command) => `group_secret-${command.groupId}`,
  guards: (command) => [`group-${command.groupId}`, ...storeGuards(command)],
  readFacts: async (command, reads) => ({
    groupExists: await reads.groupExists(command.groupId),
    keyExists:
      command.type !== 'SetGroupSecret' || (await reads.dataKeyExists(command.sealed.keyId)),
    mayUseStore: await mayUseStore(command, command.groupId, reads),
  }),
};
