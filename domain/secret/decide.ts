import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { SecretCommand, SetSecret } from './commands.ts';
import type { SecretEvent } from './events.ts';
import { isSecretName, maxSecrets, maxSecretsBytes, variableProblem } from './secret.ts';
import { evolveSecrets, initialSecrets, type Secret, type SecretsState } from './state.ts';

export interface SecretDecisionFacts {
  /** Whether the script exists and is not deleted. */
  readonly scriptExists: boolean;
  /** Whether the key that sealed the value still exists; true without a value. */
  readonly keyExists: boolean;
}

export function decideSecret(
  state: SecretsState,
  command: SecretCommand,
  facts: SecretDecisionFacts,
): Decision<SecretEvent> {
  if (!facts.scriptExists) return refuse('not_found', 'Script not found.');
  const { scriptId, name } = command;
  switch (command.type) {
    case 'SetSecret':
      return set(state, command, facts);
    case 'DeleteSecret':
      return state.get(name)?.present === true
        ? accept({ type: 'SecretDeleted', data: { scriptId, name } })
        : refuse('not_found', 'Secret not found.');
  }
}

function set(
  state: SecretsState,
  command: SetSecret,
  { keyExists }: SecretDecisionFacts,
): Decision<SecretEvent> {
  const { scriptId, name, version, sealed } = command;
  const present = state.get(name);
  const asEnvironment =
    command.asEnvironment ?? (present?.present === true && present.asEnvironment);
  const problem = isSecretName(name)
    ? asEnvironment && variableProblem(name)
    : 'the name of a secret must be a valid variable name';
  if (problem) return refuse('validation_failed', `The secret cannot be set: ${problem}.`);
  if (version !== (present?.version ?? 0) + 1 || !keyExists) {
    return refuse(
      'version_mismatch',
      'The secret was changed in the meantime. Reload it and try again.',
    );
  }
  const others = [...state].filter(([other, one]) => other !== name && one.present);
  const full = roomProblem(
    others.map(([, one]) => one),
    sealed.ciphertext.length,
  );
  if (full !== undefined) return refuse('validation_failed', full);
  return accept({ type: 'SecretSet', data: { scriptId, name, version, asEnvironment, sealed } });
}

function roomProblem(others: readonly Secret[], addedBytes: number): string | undefined {
  if (others.length >= maxSecrets) return `A script may have at most ${maxSecrets} secrets.`;
  const sealedBytes = others.reduce((sum, one) => sum + one.sealedBytes, addedBytes);
  // Base64 encodes three bytes as four.
  return sealedBytes * 0.75 > maxSecretsBytes
    ? `The secrets of a script may have at most ${maxSecretsBytes} bytes in total.`
    : undefined;
}

export const secretAggregate: Aggregate<
  SecretsState,
  SecretCommand,
  SecretEvent,
  SecretDecisionFacts
> = {
  streamType: 'secret',
  commands: { SetSecret: true, DeleteSecret: true },
  events: { SecretSet: true, SecretDeleted: true },
  initial: initialSecrets,
  evolve: evolveSecrets,
  stateVersion: 1,
  decide: decideSecret,
  streamOf: (command) => `secret-${command.scriptId}`,
  guards: (command) => [`script-${command.scriptId}`],
  readFacts: async (command, reads) => {
    const script = await reads.script(command.scriptId);
    return {
      scriptExists: script !== undefined && !script.deleted,
      keyExists: command.type !== 'SetSecret' || (await reads.dataKeyExists(command.sealed.keyId)),
    };
  },
};
