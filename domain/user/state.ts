import type {
  Identity,
  Passkey,
  PasskeyAdded,
  PasskeyRemoved,
  PasskeyRenamed,
  PasskeyUsed,
  RecoveryCodesReplaced,
  RecoveryCodeUsed,
  SecondFactor,
  SecondFactorDisabled,
  SecondFactorEnabled,
  UserEvent,
  UserSettings,
} from './events.ts';

export type UserState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly settings: UserSettings;
      readonly credentialId: string;
      /** The linked identities, at most one per identity provider. */
      readonly identities: readonly Identity[];
      readonly secondFactor?: SecondFactor;
    };

/** The events that change the second factor. */
export type SecondFactorEvent =
  | SecondFactorEnabled
  | SecondFactorDisabled
  | RecoveryCodesReplaced
  | RecoveryCodeUsed
  | PasskeyAdded
  | PasskeyRemoved
  | PasskeyRenamed
  | PasskeyUsed;

export const initialUser: UserState = { status: 'absent' };

export function evolveUser(state: UserState, event: UserEvent): UserState {
  if (event.type === 'UserCreated') {
    const { name, role, groupIds, canAudit, credentialId, identity } = event.data;
    const settings = { name, role, groupIds, canAudit, disabled: false };
    return { status: 'there', settings, credentialId, identities: identity ? [identity] : [] };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'UserChanged': {
      const { userId: _, ...changes } = event.data;
      return { ...state, settings: { ...state.settings, ...changes } };
    }
    case 'UserPasswordChanged':
      return { ...state, credentialId: event.data.credentialId };
    case 'UserIdentityLinked': {
      const { userId: _, ...identity } = event.data;
      return { ...state, identities: [...othersOf(state.identities, identity), identity] };
    }
    case 'UserIdentityUnlinked':
      return { ...state, identities: othersOf(state.identities, event.data) };
    case 'SecondFactorEnabled':
    case 'SecondFactorDisabled':
    case 'RecoveryCodesReplaced':
    case 'RecoveryCodeUsed':
    case 'PasskeyAdded':
    case 'PasskeyRemoved':
    case 'PasskeyRenamed':
    case 'PasskeyUsed': {
      const { secondFactor: previous, ...rest } = state;
      const secondFactor = nextSecondFactor(previous, event);
      return { ...rest, ...(secondFactor && { secondFactor }) };
    }
    case 'PasskeyUseRefused':
      return state;
  }
}

/** Returns the second factor after an event, or `undefined` if the account has none. */
export function nextSecondFactor(
  previous: SecondFactor | undefined,
  event: SecondFactorEvent,
): SecondFactor | undefined {
  switch (event.type) {
    case 'SecondFactorEnabled': {
      const { sealed, recoveryHashes } = event.data;
      return { ...(previous ?? { recoveryHashes }), sealed };
    }
    case 'SecondFactorDisabled':
      return undefined;
    case 'RecoveryCodesReplaced':
      return previous && { ...previous, recoveryHashes: event.data.recoveryHashes };
    case 'RecoveryCodeUsed': {
      const { recoveryHash } = event.data;
      if (previous === undefined) return undefined;
      const left = previous.recoveryHashes.filter((hash) => hash !== recoveryHash);
      return { ...previous, recoveryHashes: left };
    }
    case 'PasskeyAdded': {
      const { userId: _, recoveryHashes, ...passkey } = event.data;
      const passkeys = [...passkeysOf(previous), passkey];
      return { ...(previous ?? { recoveryHashes }), passkeys };
    }
    case 'PasskeyRemoved': {
      const passkeys = passkeysOf(previous).filter(
        ({ passkeyId }) => passkeyId !== event.data.passkeyId,
      );
      if (previous?.sealed === undefined && passkeys.length === 0) return undefined;
      return previous && { ...previous, passkeys };
    }
    case 'PasskeyRenamed':
    case 'PasskeyUsed': {
      const { userId: _, ...changes } = event.data;
      const passkeys = passkeysOf(previous).map((one) =>
        one.passkeyId === changes.passkeyId ? { ...one, ...changes } : one,
      );
      return previous && { ...previous, passkeys };
    }
  }
}

/** Returns the passkeys of a second factor. */
export function passkeysOf(factor: SecondFactor | null | undefined): readonly Passkey[] {
  return factor?.passkeys ?? [];
}

function othersOf(
  identities: readonly Identity[],
  { identityProviderId }: Pick<Identity, 'identityProviderId'>,
): readonly Identity[] {
  return identities.filter((one) => one.identityProviderId !== identityProviderId);
}
