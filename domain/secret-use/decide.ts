import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { SecretUseCommand } from './commands.ts';
import type { SecretUseEvent } from './events.ts';
import { evolveSecretUse, initialSecretUse, type SecretUseState } from './state.ts';

export function decideSecretUse(
  state: SecretUseState,
  command: SecretUseCommand,
): Decision<SecretUseEvent> {
  switch (command.type) {
    case 'ReadSecrets': {
      const { runId, scriptId } = command;
      const secrets = command.secrets.filter(
        ({ name, version, groupId }) =>
          !state.some(
            (read) => read.name === name && read.version === version && read.groupId === groupId,
          ),
      );
      return secrets.length === 0
        ? accept()
        : accept({ type: 'SecretsRead', data: { runId, scriptId, secrets } });
    }
  }
}

export const secretUseAggregate: Aggregate<SecretUseState, SecretUseCommand, SecretUseEvent> = {
  streamType: 'secret_use',
  commands: { ReadSecrets: true },
  events: { SecretsRead: true },
  initial: initialSecretUse,
  evolve: evolveSecretUse,
  stateVersion: 2,
  decide: decideSecretUse,
  streamOf: (command) => `secret_use-${command.runId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
