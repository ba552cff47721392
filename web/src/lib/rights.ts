import type { Role } from './api/types.ts';

/** What a person may do within their groups. The server decides; the dashboard only leaves out
 *  what would be refused. */
export type Right = 'readFiles' | 'editScripts' | 'startStop' | 'disable' | 'enable';

const rightsOf: Record<Role, ReadonlySet<Right>> = {
  administrator: new Set(['readFiles', 'editScripts', 'startStop', 'disable', 'enable']),
  developer: new Set(['readFiles', 'editScripts', 'startStop', 'disable', 'enable']),
  operator: new Set(['readFiles', 'startStop', 'disable']),
  viewer: new Set<Right>(),
};

/** Whether `role` has `right`, by the table of roles and rights. */
export function mayDo(role: Role, right: Right): boolean {
  return rightsOf[role].has(right);
}
