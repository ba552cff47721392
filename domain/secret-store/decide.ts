import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { ChangeSecretStore, SecretStoreCommand } from './commands.ts';
import type { SecretStoreEvent } from './events.ts';
import { evolveSecretStore, initialSecretStore, type SecretStoreState } from './state.ts';
import { connectionProblem, needsNewCredentials, type SecretStoreSettings } from './store.ts';

export interface SecretStoreFacts {
  /** Whether the data key of the credentials still exists. True if the store has no credentials. */
  readonly keyExists: boolean;
  /** The first group in the settings that does not exist. `undefined` if all groups exist. */
  readonly missingGroupId: string | undefined;
  /** Whether another secret store has the same name, ignoring case. */
  readonly nameTaken: boolean;
  /** Descriptions of the secrets that use the store, such as `TOKEN of the script "Report"`. */
  readonly users: readonly string[];
}

/** The maximum number of secrets that a refusal lists. */
const namedUsers = 5;

export function decideSecretStore(
  state: SecretStoreState,
  command: SecretStoreCommand,
  facts: SecretStoreFacts,
): Decision<SecretStoreEvent> {
  switch (command.type) {
    case 'CreateSecretStore': {
      if (state.status !== 'absent')
        return refuse('already_exists', 'The secret store already exists.');
      const { type: _, ...data } = command;
      const { secretStoreId: _id, sealed, ...settings } = data;
      if (facts.nameTaken) return nameTaken;
      return problemOf(settings, sealed, '', facts) ?? accept({ type: 'SecretStoreCreated', data });
    }
    case 'ChangeSecretStore':
      return state.status === 'there' ? change(state, command, facts) : unknown;
    case 'DeleteSecretStore': {
      const { secretStoreId } = command;
      if (state.status === 'deleted') return accept();
      if (state.status === 'absent') return unknown;
      if (facts.users.length > 0) return refuse('secret_store_in_use', inUse(facts.users));
      return accept({ type: 'SecretStoreDeleted', data: { secretStoreId } });
    }
  }
}

const unknown = refuse('not_found', 'Secret store not found.');
const nameTaken = refuse('already_exists', 'Another secret store already has this name.');
const changedMeanwhile = refuse(
  'version_mismatch',
  'The secret store has changed since you read it. Reload it and try again.',
);

function inUse(users: readonly string[]): string {
  const more = users.length - namedUsers;
  const named = users.slice(0, namedUsers).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `Secrets still use this store: ${named}. Change or delete the secrets first.`;
}

function change(
  state: Extract<SecretStoreState, { status: 'there' }>,
  command: ChangeSecretStore,
  facts: SecretStoreFacts,
): Decision<SecretStoreEvent> {
  const { type: _, secretStoreId, expectedVersion, ...wanted } = command;
  const present: Record<string, unknown> = { ...state.settings, sealed: state.sealed };
  const changes = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && !isSameJson(value, present[name]),
  );
  if (changes.length === 0) return accept();
  if (expectedVersion !== undefined && expectedVersion !== state.version) return changedMeanwhile;
  if (changes.some(([name]) => name === 'name') && facts.nameTaken) return nameTaken;
  const { sealed = state.sealed, ...changed } = wanted;
  const settings = { ...state.settings, ...changed };
  if (
    wanted.sealed === undefined &&
    needsNewCredentials(state.settings.connection, settings.connection)
  ) {
    return refuse(
      'validation_failed',
      'The credential is required when the address, the namespace or the authentication method changes.',
    );
  }
  const data = { secretStoreId, ...Object.fromEntries(changes) };
  return (
    problemOf(settings, sealed, state.settings.name, facts) ??
    accept({ type: 'SecretStoreChanged', data })
  );
}

function problemOf(
  { name, connection }: SecretStoreSettings,
  sealed: Sealed | null,
  presentName: string,
  { keyExists, missingGroupId }: SecretStoreFacts,
): Decision<never> | undefined {
  const unusable = newNameProblem('name', name, presentName);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  const problem = connectionProblem(connection);
  if (problem !== undefined) {
    return refuse('validation_failed', `The secret store cannot be saved: ${problem}.`);
  }
  if (sealed !== null && connection.type === 'files') {
    return refuse(
      'validation_failed',
      'A secret store of the type "files" has no credential. Omit "credential".',
    );
  }
  if (missingGroupId !== undefined) {
    return refuse('validation_failed', `The group ${missingGroupId} does not exist.`);
  }
  return keyExists ? undefined : changedMeanwhile;
}

/** A lock that commands hold while they assign the name of a secret store. Its stream contains no events. */
const names = 'secret_store-names';

const nameIn = (command: SecretStoreCommand) =>
  command.type === 'DeleteSecretStore' ? undefined : command.name;

const nameGuards = (command: SecretStoreCommand) =>
  nameIn(command) === undefined ? [] : ([names] as const);

export const secretStoreAggregate: Aggregate<
  SecretStoreState,
  SecretStoreCommand,
  SecretStoreEvent,
  SecretStoreFacts
> = {
  streamType: 'secret_store',
  commands: { CreateSecretStore: true, ChangeSecretStore: true, DeleteSecretStore: true },
  events: { SecretStoreCreated: true, SecretStoreChanged: true, SecretStoreDeleted: true },
  initial: initialSecretStore,
  evolve: evolveSecretStore,
  stateVersion: 1,
  decide: decideSecretStore,
  streamOf: (command) => `secret_store-${command.secretStoreId}`,
  // The command that destroys the data key takes the same guard.
  guards: (command) => [`secret-${command.secretStoreId}`, ...nameGuards(command)],
  exclusiveGuards: nameGuards,
  readFacts: async (command, reads) => {
    if (command.type === 'DeleteSecretStore') {
      const users = await reads.secretStoreUsers(command.secretStoreId);
      return { keyExists: true, missingGroupId: undefined, nameTaken: false, users };
    }
    const { secretStoreId, name, sealed, groupIds } = command;
    const named = [...new Set(groupIds ?? [])];
    const exist = await Promise.all(named.map((id) => reads.groupExists(id)));
    return {
      keyExists: !sealed || (await reads.dataKeyExists(sealed.keyId)),
      missingGroupId: named.find((_, index) => exist[index] === false),
      nameTaken: name !== undefined && (await reads.nameTaken('secret_store', name, secretStoreId)),
      users: [],
    };
  },
};
