import type { Aggregate, DecisionReads } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { placeProblem, type StorePlace } from '#domain/secret-store/store.ts';
import type { SecretChange, SecretCommand } from './commands.ts';
import type { SecretEvent, SecretSource, SecretValue } from './events.ts';
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
  /** Whether the data key of the value still exists. True if the secret has no stored value. */
  readonly keyExists: boolean;
  /** Whether the script's group may read the secret store. True if the secret uses no store. */
  readonly mayUseStore: boolean;
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
      const { keyExists, mayUseStore } = facts;
      const owner = { owner: 'script', keyExists, mayUseStore } as const;
      return recordSecret(state, command, owner, (value) => ({
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

export interface SecretOwnerFacts extends Pick<SecretDecisionFacts, 'keyExists' | 'mayUseStore'> {
  readonly owner: 'script' | 'group';
}

/** Validates and records a new secret value. Used for script secrets and for group secrets.
 *  @param record creates the event for the owner */
export function recordSecret<Event>(
  state: SecretsState,
  { name, version, sealed, source, ...settings }: SecretChange,
  { owner, keyExists, mayUseStore }: SecretOwnerFacts,
  record: (value: SecretValue) => Event,
): Decision<Event> {
  const last = state.get(name);
  const kept = last?.present === true ? last : undefined;
  const asEnvironment = settings.asEnvironment ?? kept?.asEnvironment ?? false;
  // Values in a secret store have no rotation interval, because the store manages rotation.
  const { rotateAfterDays = source ? undefined : kept?.rotateAfterDays } = settings;
  const problem = isSecretName(name)
    ? (asEnvironment && variableProblem(name)) ||
      rotationProblem(rotateAfterDays) ||
      (source && sourceProblem(source, typeof rotateAfterDays === 'number', mayUseStore))
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
      ...(source && { source }),
    }),
  );
}

function sourceProblem(
  source: StorePlace,
  rotates: boolean,
  mayUseStore: boolean,
): string | undefined {
  if (rotates)
    return 'a value in a secret store cannot have a rotation interval, because it is rotated in the store';
  return mayUseStore
    ? placeProblem(source)
    : 'the secret store does not exist, or the group may not use it';
}

function rotationProblem(days: number | null | undefined): string | undefined {
  if (days === null || days === undefined) return undefined;
  return Number.isInteger(days) && days >= 1 && days <= maxRotationDays
    ? undefined
    : `the rotation interval must be from 1 to ${maxRotationDays} days`;
}

function roomProblem(
  owner: string,
  others: readonly Secret[],
  addedBytes: number,
): string | undefined {
  if (others.length >= maxSecrets) return `A ${owner} may have at most ${maxSecrets} secrets.`;
  const sealedBytes = others.reduce((sum, one) => sum + one.sealedBytes, addedBytes);
  // Base64 encodes three bytes as four characters.
  return sealedBytes * 0.75 > maxSecretsBytes
    ? `The secrets of a ${owner} may have at most ${maxSecretsBytes} bytes in total.`
    : undefined;
}

type WithSource = { readonly source?: SecretSource };

/** Locks the secret store, so that it cannot be deleted at the same time. */
export function storeGuards(command: object | WithSource): readonly StreamId[] {
  const { source }: WithSource = command;
  return source ? [`secret_store-${source.storeId}`] : [];
}

/** Whether a group may read the secret store in the command. True if the command refers to no store. */
export async function mayUseStore(
  command: object | WithSource,
  groupId: string | undefined,
  reads: DecisionReads,
): Promise<boolean> {
  const { source }: WithSource = command;
  if (!source) return true;
  const groups = await reads.secretStoreGroups(source.storeId);
  return groups === null || (groups !== undefined && groups.includes(groupId ?? ''));
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
  guards: (command) => [`script-${command.scriptId}`, ...storeGuards(command)],
  readFacts: async (command, reads) => {
    const script = await reads.script(command.scriptId);
    return {
      scriptExists: script !== undefined && !script.deleted,
      keyExists: command.type !== 'SetSecret' || (await reads.dataKeyExists(command.sealed.keyId)),
      mayUseStore: await mayUseStore(command, script?.groupId, reads),
    };
  },
};
