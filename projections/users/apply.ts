import type { Recorded } from '#domain/aggregates.ts';
import type { Identity, PasskeyUseRefused, SecondFactor, UserEvent } from '#domain/user/events.ts';
import { nextSecondFactor, type SecondFactorEvent } from '#domain/user/state.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { userColumns, type StoredFactor, type UsersTable } from './table.ts';

/** Builds the user accounts. */
export const usersProjection: Projection = rowProjection<
  UsersTable,
  Recorded<Exclude<UserEvent, PasskeyUseRefused>>
>({
  name: 'users',
  version: 1,
  table: 'users',
  key: 'user_id',
  columns: userColumns,
  handles: [
    'UserCreated',
    'UserChanged',
    'UserPasswordChanged',
    'UserIdentityLinked',
    'UserIdentityUnlinked',
    'SecondFactorEnabled',
    'SecondFactorDisabled',
    'RecoveryCodesReplaced',
    'RecoveryCodeUsed',
    'PasskeyAdded',
    'PasskeyRemoved',
    'PasskeyRenamed',
    'PasskeyUsed',
  ],
  keyOf: (event) => event.data.userId,
  step: (row, event) => {
    if (event.type === 'UserCreated') {
      return {
        user_id: event.data.userId,
        email: event.data.email,
        name: event.data.name,
        role: event.data.role,
        group_ids: event.data.groupIds,
        can_audit: event.data.canAudit,
        disabled: false,
        credential_id: event.data.credentialId,
        access_version: event.version,
        kept_session_id: null,
        identities: event.data.identity ? [event.data.identity] : [],
        second_factor: null,
        created_at: event.recordedAt,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'UserChanged': {
        const { name, role, groupIds, canAudit, disabled } = event.data;
        return {
          ...row,
          name: name ?? row.name,
          role: role ?? row.role,
          group_ids: groupIds ?? row.group_ids,
          can_audit: canAudit ?? row.can_audit,
          disabled: disabled ?? row.disabled,
          ...(disabled === true && { access_version: event.version, kept_session_id: null }),
        };
      }
      case 'UserPasswordChanged':
        return {
          ...row,
          credential_id: event.data.credentialId,
          access_version: event.version,
          kept_session_id: event.data.keptSessionId ?? null,
        };
      case 'UserIdentityLinked': {
        const { userId: _, ...identity } = event.data;
        return { ...row, identities: [...othersOf(row, identity), identity] };
      }
      case 'UserIdentityUnlinked':
        return { ...row, identities: othersOf(row, event.data) };
      case 'SecondFactorEnabled':
      case 'SecondFactorDisabled':
      case 'RecoveryCodesReplaced':
      case 'RecoveryCodeUsed':
      case 'PasskeyAdded':
      case 'PasskeyRemoved':
      case 'PasskeyRenamed':
      case 'PasskeyUsed': {
        const next = nextSecondFactor(row.second_factor ?? undefined, event);
        return { ...row, second_factor: next ? withTimes(next, row.second_factor, event) : null };
      }
    }
  },
});

function othersOf(
  { identities }: UsersTable,
  { identityProviderId }: Pick<Identity, 'identityProviderId'>,
): readonly Identity[] {
  return identities.filter((one) => one.identityProviderId !== identityProviderId);
}

function withTimes(
  next: SecondFactor,
  previous: StoredFactor | null,
  event: Recorded<SecondFactorEvent>,
): StoredFactor {
  const times = previous?.passkeyTimes ?? {};
  switch (event.type) {
    case 'PasskeyAdded': {
      const added = { addedAt: event.recordedAt.toISOString() };
      return { ...next, passkeyTimes: { ...times, [event.data.passkeyId]: added } };
    }
    case 'PasskeyUsed': {
      const known = times[event.data.passkeyId];
      if (known === undefined) return next;
      const used = { ...known, lastUsedAt: event.recordedAt.toISOString() };
      return { ...next, passkeyTimes: { ...times, [event.data.passkeyId]: used } };
    }
    case 'PasskeyRemoved': {
      const { [event.data.passkeyId]: _, ...others } = times;
      return { ...next, passkeyTimes: others };
    }
    case 'SecondFactorEnabled':
    case 'SecondFactorDisabled':
    case 'RecoveryCodesReplaced':
    case 'RecoveryCodeUsed':
    case 'PasskeyRenamed':
      return next;
  }
}
