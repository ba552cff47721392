import type { Recorded } from '#domain/aggregates.ts';
import type { GroupEvent } from '#domain/group/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { groupColumns, type GroupsTable } from './table.ts';

/** Builds the groups of scripts. */
export const groupsProjection: Projection = rowProjection<GroupsTable, Recorded<GroupEvent>>({
  name: 'groups',
  version: 1,
  table: 'groups',
  key: 'group_id',
  columns: groupColumns,
  handles: ['GroupCreated', 'GroupChanged', 'GroupDeleted'],
  keyOf: (event) => event.data.groupId,
  step: (row, event) => {
    switch (event.type) {
      case 'GroupCreated':
        return {
          group_id: event.data.groupId,
          name: event.data.name,
          color: event.data.color,
          icon: event.data.icon,
        };
      case 'GroupChanged': {
        if (row === undefined) return undefined;
        const { name, color, icon } = event.data;
        return {
          ...row,
          name: name ?? row.name,
          color: color ?? row.color,
          icon: icon ?? row.icon,
        };
      }
      case 'GroupDeleted':
        return undefined;
    }
  },
});
