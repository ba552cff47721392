/** Groups of scripts. */
import { parseGroupId } from '#domain/kernel/ids.ts';
import { listGroups } from '#projections/groups/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem } from '../http/problem.ts';
import { pageQuery } from '../schemas/common.ts';
import { GroupPage } from '../schemas/people.ts';
import { groupJson } from './views.ts';
import { visibleGroups } from './visible.ts';

const list = operation({
  method: 'get',
  path: '/api/v1/groups',
  operationId: 'listGroups',
  summary: 'List the groups that you belong to; administrators see all',
  tag: 'Groups',
  access: { right: 'groups.read' },
  query: Type.Object(pageQuery, { additionalProperties: false }),
  responses: { 200: { description: 'A page.', schema: GroupPage, headers: ['Link'] } },
  refusals: ['invalid_cursor'],
  handle: async ({ principal, query, url }, { readModels }) => {
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
    const rows = await listGroups(readModels, visible, after.key, size);
    return pageReply(request, rows, (row) => row.group_id, groupJson);
  },
});

export const groupOperations: readonly Operation[] = [list];
