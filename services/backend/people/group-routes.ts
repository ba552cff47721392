/** Manages groups of scripts. */
import { mustParse, parseGroupId, type GroupId } from '#domain/kernel/ids.ts';
import { listGroups } from '#projections/groups/queries.ts';
import { isIn, visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent, writtenReply } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { aboutCurrentGroups, atParameter } from '../http/point-in-time.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { aboutPastLists, listAt, replyAt } from '../replay/resource-at.ts';
import type { Services } from '../services.ts';
import { Group, GroupChange, GroupPage, NewGroup } from './schema.ts';
import { groupJson } from './view.ts';

const list = operation({
  method: 'get',
  path: '/api/v1/groups',
  operationId: 'listGroups',
  summary: 'List your groups, now or at a point in time; administrators see all groups',
  description: aboutPastLists,
  tag: 'Groups',
  access: { right: 'groups.read' },
  query: Exact({ ...pageQuery, at: atParameter }),
  responses: onePage(GroupPage),
  handle: async ({ principal, query, url }, services) => {
    if (query.at !== undefined) {
      const { at, limit, cursor } = query;
      return await listAt('groups', { principal, at, url, limit, cursor }, services);
    }
    const visible = visibleGroups(principal);
    const request = {
      list: 'groups',
      filter: visible,
      url,
      limit: query.limit,
      cursor: query.cursor,
    };
    const after = keyOf(request, parseGroupId);
    if (isProblem(after)) return after;
    const size = (query.limit ?? defaultLimit) + 1;
    const rows = await listGroups(services.readModels, visible, after.key, size);
    return pageReply(request, rows, (row) => row.group_id, groupJson);
  },
});

const access = { right: 'groups.manage' } as const;
const parameters = { group_id: pathParameters.groupId };

const create = operation({
  method: 'post',
  path: '/api/v1/groups',
  operationId: 'createGroup',
  summary: 'Create a group',
  description: 'Names are unique, ignoring case.',
  tag: 'Groups',
  access,
  creates: true,
  body: { schema: NewGroup, example: { name: 'reports', color: '#0ea5e9', icon: 'chart-line' } },
  responses: {
    201: {
      description: 'The group was created.',
      schema: Group,
      headers: ['Location', 'Orch-Position'],
    },
  },
  refusals: ['already_exists'],
  handle: async ({ body: { name, color = '#64748b', icon = 'folder' }, context }, services) => {
    const groupId = mustParse(parseGroupId, services.ids.next());
    const command = { type: 'CreateGroup', groupId, name, color, icon } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parseGroupId, shown(services), '/api/v1/groups');
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/groups/{group_id}',
  operationId: 'getGroup',
  summary: 'Read a group, now or at a point in time',
  description: aboutCurrentGroups,
  tag: 'Groups',
  access: { right: 'groups.read' },
  parameters,
  query: Exact({ at: atParameter }),
  responses: { 200: { description: 'The group.', schema: Group } },
  handle: async ({ principal, parameters: { group_id: groupId }, query: { at } }, services) => {
    if (at !== undefined) return await replyAt('groups', { principal, at, id: groupId }, services);
    if (!isIn(principal, groupId)) return notFound;
    const group = await shown(services)(groupId);
    return group === undefined ? notFound : json(200, group);
  },
});

const change = operation({
  method: 'patch',
  path: '/api/v1/groups/{group_id}',
  operationId: 'changeGroup',
  summary: 'Change the name, icon or color of a group',
  description: 'Names are unique, ignoring case.',
  tag: 'Groups',
  access,
  parameters,
  body: {
    schema: GroupChange,
    example: { color: '#0ea5e9' },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated resource.', schema: Group, headers: ['Orch-Position'] },
  },
  refusals: ['already_exists'],
  handle: async ({ parameters: { group_id: groupId }, body: changes, context }, services) => {
    const command = { type: 'ChangeGroup', groupId, changes } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parseGroupId, shown(services));
  },
});

const remove = operation({
  method: 'delete',
  path: '/api/v1/groups/{group_id}',
  operationId: 'deleteGroup',
  summary: 'Delete a group that contains no scripts',
  description: 'Removes all members from the group and destroys the encryption key of its secrets.',
  tag: 'Groups',
  access,
  parameters,
  responses: { 204: { description: 'The group was deleted.', headers: ['Orch-Position'] } },
  refusals: ['group_in_use'],
  handle: async ({ parameters: { group_id: groupId }, context }, { commands, vault }) => {
    const reply = noContent(await commands.execute({ type: 'DeleteGroup', groupId }, context));
    await vault.destroyUnusedKey(groupId);
    return reply;
  },
});

const shown =
  ({ readModels }: Services) =>
  async (id: GroupId) => {
    const [group] = await listGroups(readModels, [id], undefined, 1);
    return group && groupJson(group);
  };

export const groupOperations: readonly Operation[] = [list, create, get, change, remove];
