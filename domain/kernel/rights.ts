/** The roles that have each right. Every entry point of the platform checks rights against this table (contract §3,
 *  "Right"). */
import type { Principal, Role } from './actor.ts';
import type { GroupId } from './ids.ts';

const everyone: readonly Role[] = ['administrator', 'developer', 'operator', 'viewer'];
const withoutViewer: readonly Role[] = ['administrator', 'developer', 'operator'];
const authors: readonly Role[] = ['administrator', 'developer'];
const administrators: readonly Role[] = ['administrator'];

export const rights = {
  'scripts.list': everyone,
  'files.read': withoutViewer,
  'scripts.write': authors,
  'scripts.enable': authors,
  'scripts.disable': withoutViewer,
  'schedules.read': everyone,
  'schedules.write': authors,
  'secrets.manage': authors,
  'webhooks.manage': authors,
  'chains.manage': authors,
  'runs.read': everyone,
  'runs.start': withoutViewer,
  'runs.stop': withoutViewer,
  'notifications.read': everyone,
  'notifications.mark': everyone,
  'notifications.manage': administrators,
  'groups.read': everyone,
  'groups.manage': administrators,
  'system.read': everyone,
  'system.manage': administrators,
  'users.manage': administrators,
  'backups.manage': administrators,
  'audit.read': administrators,
  'tokens.manage': everyone,
} as const satisfies Record<string, readonly Role[]>;

export type Right = keyof typeof rights;

export const scopes = [
  'scripts:read',
  'scripts:write',
  'runs:read',
  'runs:write',
  'schedules:write',
  'webhooks:write',
  'secrets:write',
  'audit:read',
  'admin',
  '*',
] as const;
/** A permission of an API token. `*` permits everything that the token's owner may do. */
export type Scope = (typeof scopes)[number];

const anyScope = scopes;

/** The scopes that include each right. The role of the token's owner must also have the right. Write scopes include
 *  reading. A scope that ends with `:read` permits no changes. */
export const scopesOf = {
  'scripts.list': ['scripts:read', 'scripts:write', '*'],
  'files.read': ['scripts:read', 'scripts:write', '*'],
  'scripts.write': ['scripts:write', '*'],
  'scripts.enable': ['scripts:write', '*'],
  'scripts.disable': ['scripts:write', 'runs:write', '*'],
  'schedules.read': ['scripts:read', 'scripts:write', 'schedules:write', '*'],
  'schedules.write': ['schedules:write', '*'],
  'secrets.manage': ['secrets:write', '*'],
  'webhooks.manage': ['webhooks:write', '*'],
  'chains.manage': ['webhooks:write', '*'],
  'runs.read': ['runs:read', 'runs:write', '*'],
  'runs.start': ['runs:write', '*'],
  'runs.stop': ['runs:write', '*'],
  'notifications.read': ['runs:read', 'runs:write', '*'],
  'notifications.mark': ['runs:write', '*'],
  'notifications.manage': ['admin', '*'],
  'groups.read': anyScope,
  'groups.manage': ['admin', '*'],
  'system.read': anyScope,
  'system.manage': ['admin', '*'],
  'users.manage': ['admin', '*'],
  'backups.manage': ['admin', '*'],
  'audit.read': ['audit:read', '*'],
  'tokens.manage': ['admin', '*'],
} as const satisfies Record<Right, readonly Scope[]>;

/** For each scope, the right that a user needs to create a token with that scope. */
const neededFor: Readonly<Record<Scope, Right>> = {
  'scripts:read': 'scripts.list',
  'scripts:write': 'scripts.write',
  'runs:read': 'runs.read',
  'runs:write': 'runs.start',
  'schedules:write': 'schedules.write',
  'webhooks:write': 'webhooks.manage',
  'secrets:write': 'secrets.manage',
  'audit:read': 'audit.read',
  admin: 'system.manage',
  '*': 'tokens.manage',
};

/** Whether the user may create a token with `scope`. */
export function canGrant(principal: Principal, scope: Scope): boolean {
  return roleGrants(principal, neededFor[scope]);
}

/** Whether the user has `right` in at least one group. The user's role must have the right. If the user presented an
 *  API token, one of its scopes must include the right too. */
export function hasRightAnywhere(principal: Principal, right: Right): boolean {
  const { token } = principal;
  const givers: readonly Scope[] = scopesOf[right];
  if (token !== undefined && !token.scopes.some((scope) => givers.includes(scope))) return false;
  return roleGrants(principal, right);
}

function roleGrants(principal: Principal, right: Right): boolean {
  if (right === 'audit.read' && principal.canAudit) return true;
  const holders: readonly Role[] = rights[right];
  return holders.includes(principal.role);
}

/** Whether the user may see resources of `groupId`. */
export function canSeeGroup(principal: Principal, groupId: GroupId): boolean {
  return principal.role === 'administrator' || principal.groupIds.includes(groupId);
}
