/** Tools for error groups. No tool changes their status. */
import Type from 'typebox';
import { tool, type Tool } from '../tool.ts';
import { Cursor, defaultItems, Limit, listOf, NextCursor, ScriptId } from './shapes.ts';

const ErrorGroup = Type.Object({
  id: Type.String(),
  type: Type.String({ description: 'Type of the last error of the group.' }),
  message: Type.String({ description: 'Message of the last error of the group.' }),
  script_ids: Type.Array(Type.String()),
  count: Type.Integer({ description: 'Number of runs with this error.' }),
  first_seen: Type.String(),
  last_seen: Type.String(),
  last_run_id: Type.String(),
  status: Type.String({ description: 'open, resolved or ignored.' }),
});

const listErrors = tool({
  name: 'list_errors',
  title: 'List errors',
  description:
    'Lists the error groups that you can see, most recent first. A group contains all failed runs with ' +
    `the same error. Returns ${defaultItems} groups, or limit. Read the frames with get_run and last_run_id.`,
  effect: 'reads',
  input: Type.Object({
    status: Type.Optional(Type.Enum(['open', 'resolved', 'ignored'])),
    script_id: Type.Optional(ScriptId),
    since: Type.Optional(Type.String({ description: 'Seen at or after this RFC 3339 time.' })),
    query: Type.Optional(
      Type.String({ description: 'Matches part of the type or message of the last error.' }),
    ),
    limit: Limit,
    cursor: Cursor,
  }),
  output: Type.Object({ items: Type.Array(ErrorGroup), next_cursor: NextCursor }),
  handle: ({ query: q, limit = defaultItems, ...rest }, use) =>
    listOf(ErrorGroup, '/error-groups', { q, limit, ...rest }, use),
});

export const errorTools: readonly Tool[] = [listErrors];
