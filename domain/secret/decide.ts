import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { SecretChange, SecretCommand } from './commands.ts';
import type { SecretEvent, SecretValue } from './events.ts';
import {
  isSecretName,
  maxRotationDays,
  maxSecrets,
  maxSecretsBytes,
  variableProblem,
} from './secret.ts';
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
    case 'SetSecret': {
      const { keyExists } = facts;
      return recordSecret(state, command, { owner: 'script', keyExists }, (value) => ({
        type: 'SecretSet',
        data: { scriptId, ...value },
      }));
    }
    case 'DeleteSecret':
      return state.get(name)?.present === true
        ? accept({ type: 'SecretDeleted', data: { scriptId, name } })
        : refuse('not_found', 'Secret not found.');
  }
}

/** Checks a new value and records it. Shared by the secrets of scripts and of groups.
 *  @param record creates the owner's event */
export function recordSecret<Event>(
  state: SecretsState,
  { name, version, sealed, ...settings }: SecretChange,
  { owner, keyExists }: { readonly owner: 'script' | 'group'; readonly keyExists: boolean },
  record: (value: SecretValue) => Event,
): Decision<Event> {
  const last = state.get(name);
  const kept = last?.present === true ? last : undefined;
  const asEnvironment = settings.asEnvironment ?? kept?.asEnvironment ?? false;
  const { rotateAfterDays = kept?.rotateAfterDays } = settings;
  const problem = isSecretName(name)
    ? (asEnvironment && variableProblem(name)) || rotationProblem(rotateAfterDays)
    : 'the name of a secret must be a valid variable name';
  if (problem) return refuse('validation_failed', `The secret cannot be set: ${problem}.`);
  if (version !== (last?.version ?? 0) + 1 || !keyExists) {
    return refuse(
      'version_mismatch',
      'The secret has changed since you read it. Reload it and try again.',
    );
  }
  const others = [...state].filter(([other, one]) => other !== name && one.present);
  const full = roomProblem(
    owner,
    others.map(([, one]) => one),
    sealed.ciphertext.length,
  );
  if (full !== undefined) return refuse('validation_failed', full);
  return accept(
    record({
      name,
      version,
      asEnvironment,
      ...(typeof rotateAfterDays === 'number' && { rotateAfterDays }),
      sealed,
    }),
  );
}

function rotationProblem(days: number | null | undefined): string | undefined {
  if (days === null || days === undefined) return undefined;
  return Number.isInteger(days) && days >= 1 && days <= maxRotationDays
    ? undefined
    : `the time until the rotation must be between 1 and ${maxRotationDays} days`;
}

function roomProblem(
  owner: string,
  others: readonly Secret[],
  addedBytes: number,
): string | undefined {
  if (others.length >= maxSecrets) return `A ${owner} may have at most ${maxSecrets} secrets.`;
  const sealedBytes = others.reduce((sum, one) => sum + one.sealedBytes, addedBytes);
  // Base64 encodes three bytes as four.
  return sealedBytes * 0.75 > maxSecretsBytes
    ? `The secrets of a ${owner} may have at most ${maxSecretsBytes} bytes in total.`
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
  stateVersion: 2,
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
