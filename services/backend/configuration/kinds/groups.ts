/** Groups in a configuration. */
import { configuredGroups } from '#projections/configuration/queries.ts';
import { defaultGroupId } from '#domain/group/seed.ts';
import { mustParse, parseGroupId } from '#domain/kernel/ids.ts';
import { groupJson } from '../../people/view.ts';
import type { Kind, Wanted } from '../kind.ts';

export const groupKind: Kind<'groups'> = {
  kind: 'group',
  section: 'groups',
  stream: 'group',
  present: async ({ services: { readModels } }) => {
    const rows = await configuredGroups(readModels);
    return rows.map((row) => {
      const groupId = mustParse(parseGroupId, row.group_id);
      const kept =
        groupId === defaultGroupId
          ? 'This is the default group for new scripts and cannot be deleted.'
          : row.in_use
            ? 'The group still contains scripts, possibly deleted ones. Move or purge the scripts first.'
            : undefined;
      const { id, ...look } = groupJson(row);
      return {
        item: { id, ...look },
        hidden: false,
        ...(kept !== undefined && { kept }),
        change: ({ name, color = look.color, icon = look.icon }): Promise<Wanted> => {
          const changes = { name, color, icon };
          return Promise.resolve({
            item: { id, ...changes },
            commands: () => Promise.resolve([{ type: 'ChangeGroup', groupId, changes }]),
          });
        },
        remove: () => ({ type: 'DeleteGroup', groupId }),
      };
    });
  },
  make: ({ id, name, color = '#64748b', icon = 'folder' }) => {
    const look = { name, color, icon };
    const groupId = mustParse(parseGroupId, id);
    return Promise.resolve({
      item: { id, ...look },
      commands: () => Promise.resolve([{ type: 'CreateGroup', groupId, ...look }]),
    });
  },
};
