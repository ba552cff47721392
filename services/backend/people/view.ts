/** Formats groups for API responses. */
import type { GroupsTable } from '#projections/groups/table.ts';

export function groupJson(group: GroupsTable) {
  return { id: group.group_id, name: group.name, color: group.color, icon: group.icon };
}
