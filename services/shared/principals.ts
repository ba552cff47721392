/** Whom credentials stand for. */
import type { Principal } from '#domain/kernel/actor.ts';
import { known, parseGroupId, parseTokenId, parseUserId } from '#domain/kernel/ids.ts';
import type { OpenSession } from '#projections/sessions/queries.ts';
import type { LiveToken } from '#projections/tokens/queries.ts';

/** Whom a session stands for. */
export function principalOf(owner: Omit<OpenSession, 'session_id'>): Principal {
  return {
    userId: known(parseUserId, owner.user_id),
    email: owner.email,
    name: owner.name,
    role: owner.role,
    groupIds: owner.group_ids.map((id) => known(parseGroupId, id)),
    canAudit: owner.can_audit,
  };
}

/** Whom an API token stands for, and how far. */
export function tokenPrincipal(token: LiveToken): Principal {
  const { token_id: id, token_name: name, scopes, expires_at: expiresAt } = token;
  const grant = { tokenId: known(parseTokenId, id), name, scopes, expiresAt };
  return { ...principalOf(token), token: grant };
}
