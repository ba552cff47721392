/** Creates principals from credentials. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseGroupId, parseTokenId, parseUserId } from '#domain/kernel/ids.ts';
import type { OpenSession } from '#projections/sessions/queries.ts';
import type { LiveToken } from '#projections/tokens/queries.ts';

/** Returns the principal of a session. */
export function principalOf(
  owner: Omit<OpenSession, 'session_id' | 'is_single_factor'>,
): Principal {
  return {
    userId: mustParse(parseUserId, owner.user_id),
    email: owner.email,
    name: owner.name,
    role: owner.role,
    groupIds: owner.group_ids.map((id) => mustParse(parseGroupId, id)),
    canAudit: owner.can_audit,
  };
}

/** Returns the principal of an API token, with the token's restrictions. */
export function tokenPrincipal(token: LiveToken): Principal {
  const { token_id: id, token_name: name, scopes, expires_at: expiresAt } = token;
  const grant = { tokenId: mustParse(parseTokenId, id), name, scopes, expiresAt };
  return { ...principalOf(token), token: grant };
}
