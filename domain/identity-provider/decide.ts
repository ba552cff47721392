import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { ChangeIdentityProvider, IdentityProviderCommand } from './commands.ts';
import type { IdentityProviderEvent } from './events.ts';
import { issuerProblem, type IdentityProviderSettings } from './provider.ts';
import {
  evolveIdentityProvider,
  initialIdentityProvider,
  type IdentityProviderState,
} from './state.ts';

export interface IdentityProviderFacts {
  /** Whether the data key of the client secret still exists. True if the provider has no client secret. */
  readonly keyExists: boolean;
  /** The first group that the rules refer to but that does not exist. `undefined` if all groups exist. */
  readonly missingGroupId: string | undefined;
}

export function decideIdentityProvider(
  state: IdentityProviderState,
  command: IdentityProviderCommand,
  facts: IdentityProviderFacts,
): Decision<IdentityProviderEvent> {
  switch (command.type) {
    case 'CreateIdentityProvider': {
      if (state.status === 'there') {
        return refuse('already_exists', 'Another identity provider has this slug.');
      }
      const { type: _, ...data } = command;
      return problemOf(command, '', facts) ?? accept({ type: 'IdentityProviderCreated', data });
    }
    case 'ChangeIdentityProvider':
      return state.status === 'there' ? change(state, command, facts) : unknown;
    case 'DeleteIdentityProvider': {
      const { identityProviderId } = command;
      if (state.status === 'deleted') return accept();
      if (state.status === 'absent') return unknown;
      return accept({ type: 'IdentityProviderDeleted', data: { identityProviderId } });
    }
  }
}

const unknown = refuse('not_found', 'Identity provider not found.');
const changedMeanwhile = refuse(
  'version_mismatch',
  'The identity provider has changed since you read it. Reload it and try again.',
);

function change(
  state: Extract<IdentityProviderState, { status: 'there' }>,
  command: ChangeIdentityProvider,
  facts: IdentityProviderFacts,
): Decision<IdentityProviderEvent> {
  const { type: _, identityProviderId, expectedVersion, ...wanted } = command;
  const present: Record<string, unknown> = { ...state.settings, sealed: state.sealed };
  const changes = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && !isSameJson(value, present[name]),
  );
  if (changes.length === 0) return accept();
  if (expectedVersion !== undefined && expectedVersion !== state.version) return changedMeanwhile;
  const data = { identityProviderId, ...Object.fromEntries(changes) };
  return (
    problemOf(command, state.settings.name, facts) ??
    accept({ type: 'IdentityProviderChanged', data })
  );
}

function problemOf(
  { name, issuer }: Partial<IdentityProviderSettings>,
  presentName: string,
  { keyExists, missingGroupId }: IdentityProviderFacts,
): Decision<never> | undefined {
  const unusable = newNameProblem('name', name, presentName);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  const wrongIssuer = issuer === undefined ? undefined : issuerProblem(issuer);
  if (wrongIssuer !== undefined) return refuse('validation_failed', `The issuer ${wrongIssuer}.`);
  if (missingGroupId !== undefined)
    return refuse(
      'validation_failed',
      `A rule names a group that does not exist: ${missingGroupId}.`,
    );
  return keyExists ? undefined : changedMeanwhile;
}

export const identityProviderAggregate: Aggregate<
  IdentityProviderState,
  IdentityProviderCommand,
  IdentityProviderEvent,
  IdentityProviderFacts
> = {
  streamType: 'identity_provider',
  commands: {
    CreateIdentityProvider: true,
    ChangeIdentityProvider: true,
    DeleteIdentityProvider: true,
  },
  events: {
    IdentityProviderCreated: true,
    IdentityProviderChanged: true,
    IdentityProviderDeleted: true,
  },
  initial: initialIdentityProvider,
  evolve: evolveIdentityProvider,
  stateVersion: 1,
  decide: decideIdentityProvider,
  streamOf: (command) => `identity_provider-${command.identityProviderId}`,
  // The command that destroys the data key takes the same guard.
  guards: (command) => [`secret-${command.identityProviderId}`],
  readFacts: async (command, reads) => {
    if (command.type === 'DeleteIdentityProvider') {
      return { keyExists: true, missingGroupId: undefined };
    }
    const { sealed, rules = [] } = command;
    const named = [...new Set(rules.flatMap(({ groupIds }) => groupIds))];
    const exist = await Promise.all(named.map((id) => reads.groupExists(id)));
    return {
      keyExists: !sealed || (await reads.dataKeyExists(sealed.keyId)),
      missingGroupId: named.find((_, index) => exist[index] === false),
    };
  },
};
