/** Which role may do what: the one table that every boundary asks (contract §3, "Right"). */
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
  'secrets.manage': authors,
  'runs.read': everyone,
  'runs.start': withoutViewer,
  'runs.stop': withoutViewer,
  'groups.read': everyone,
  'system.read': everyone,
  'system.manage': administrators,
  'users.manage': administrators,
  'audit.read': administrators,
} as const satisfies Record<string, readonly Role[]>;

export type Right = keyof typeof rights;

/** Whether the principal's role holds `right` in any group at all. */
export function mayAnywhere(principal: Principal, right: Right): boolean {
  if (right === 'audit.read' && principal.canAudit) return true;
  const holders: readonly Role[] = rights[right];
  return holders.includes(principal.role);
}

/** Whether what belongs to `groupId` exists at all for the principal. */
export function sees(principal: Principal, groupId: GroupId): boolean {
  return principal.role === 'administrator' || principal.groupIds.includes(groupId);
}
