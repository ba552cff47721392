/** Formats accounts, sessions and API tokens for API responses. */
import type { SessionId } from '#domain/kernel/ids.ts';
import type { SignedInSession } from '#projections/sessions/queries.ts';
import type { TokenView } from '#projections/tokens/queries.ts';
import { passkeysOf } from '#domain/user/state.ts';
import type { UserView } from '#projections/users/queries.ts';
import type { UsersTable } from '#projections/users/table.ts';

/** @param asking the caller's session, which is marked as current */
export function sessionJson({ session_id: id, ...rest }: SignedInSession, asking?: SessionId) {
  return { id, current: id === asking, ...rest };
}

/** The fields of an account. */
export function accountJson(user: UsersTable) {
  return {
    id: user.user_id,
    email: user.email,
    name: user.name,
    role: user.role,
    group_ids: user.group_ids,
    can_audit: user.can_audit,
    disabled: user.disabled,
    second_factor: user.second_factor !== null,
  };
}

export function userJson(user: UserView) {
  const { created_at, last_login_at } = user;
  return { ...accountJson(user), created_at, last_login_at };
}

export function tokenJson(row: TokenView) {
  return {
    id: row.token_id,
    name: row.name,
    scopes: row.scopes,
    created_at: row.created_at,
    expires_at: row.expires_at,
  };
}

/** The passkeys of a second factor. */
export function passkeysJson(factor: UsersTable['second_factor']) {
  return passkeysOf(factor).map(({ passkeyId, name }) => {
    const { addedAt, lastUsedAt } = factor?.passkeyTimes?.[passkeyId] ?? {};
    return { id: passkeyId, name, added_at: addedAt, last_used_at: lastUsedAt ?? null };
  });
}
