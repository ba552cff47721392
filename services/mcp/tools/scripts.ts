/** Tools for scripts and their files. */
import Type from 'typebox';
import { fileParts, part } from '#services/shared/api-client.ts';
import { picked, tool, type Tool } from '../tool.ts';
import { At, Cursor, Limit, listOf, NextCursor, Script, ScriptId } from './shapes.ts';

const Path = Type.String({ description: "Relative to the script's folder, such as main.py." });
const File = Type.Object({
  path: Type.String(),
  size_bytes: Type.Integer(),
  sha256: Type.String(),
  updated_at: Type.String(),
});
const ApprovalId = Type.Optional(
  Type.String({
    description:
      'The script is protected: the change has no effect until a user approves this request in the dashboard.',
  }),
);

const Saved = Type.Object({
  path: Type.String(),
  sha256: Type.Optional(Type.String()),
  script_version: Type.Optional(
    Type.Integer({ description: 'The version that the next run executes.' }),
  ),
  approval_id: ApprovalId,
});

/** The ID of the approval request, if the change awaits approval. */
function requestedIn(body: unknown): string | undefined {
  const { kind, id } = (body ?? {}) as { readonly kind?: unknown; readonly id?: string };
  return kind === 'save' ? id : undefined;
}

const findScripts = tool({
  name: 'find_scripts',
  title: 'Find scripts',
  description:
    'Lists the scripts that you can see, optionally filtered by a part of the name or description.',
  effect: 'reads',
  input: Type.Object({
    query: Type.Optional(Type.String()),
    enabled: Type.Optional(Type.Boolean()),
    limit: Limit,
    cursor: Cursor,
  }),
  output: Type.Object({ items: Type.Array(Script), next_cursor: NextCursor }),
  handle: ({ query, ...rest }, use) => listOf(Script, '/scripts', { q: query, ...rest }, use),
});

const getScript = tool({
  name: 'get_script',
  title: 'Read a script',
  description: 'Returns the settings and last run of a script, now or at a point in time.',
  effect: 'reads',
  input: Type.Object({ script_id: ScriptId, at: At }),
  output: Type.Object({ script: Script }),
  handle: async ({ script_id, at }, { api, signal }) => {
    const path = `/scripts/${part(script_id)}`;
    const { body } = await api.call<object>('GET', path, { query: { at }, signal });
    return { script: picked(Script, body) };
  },
});

const createScript = tool({
  name: 'create_script',
  title: 'Create a script',
  description:
    'Creates a script with a runnable main.py. Templates: http-monitor, chat-bot, etl-job. Write its ' +
    'files with write_file.',
  effect: 'adds',
  input: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: Type.Optional(Type.String()),
    template: Type.Optional(Type.String()),
    group_id: Type.Optional(Type.String()),
  }),
  output: Type.Object({ script: Script }),
  handle: async (given, { api, signal }) => {
    const { body } = await api.call<object>('POST', '/scripts', { body: given, signal });
    return { script: picked(Script, body) };
  },
});

const listFiles = tool({
  name: 'list_files',
  title: 'List the files of a script',
  description: 'Returns the paths and sizes of the files of a script, now or at a point in time.',
  effect: 'reads',
  input: Type.Object({ script_id: ScriptId, at: At, limit: Limit, cursor: Cursor }),
  output: Type.Object({ items: Type.Array(File), next_cursor: NextCursor }),
  handle: ({ script_id, ...query }, use) =>
    listOf(File, `/scripts/${part(script_id)}/files`, query, use),
});

const readFile = tool({
  name: 'read_file',
  title: 'Read a file of a script',
  description:
    'Returns the text of a file, now or at a point in time. from_line and max_lines limit the lines. ' +
    'Pass the returned `etag` to write_file to avoid overwriting changes by others.',
  effect: 'reads',
  input: Type.Object({
    script_id: ScriptId,
    path: Path,
    at: At,
    from_line: Type.Optional(Type.Integer({ minimum: 1 })),
    max_lines: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  output: Type.Object({
    path: Type.String(),
    text: Type.String(),
    etag: Type.Union([Type.String(), Type.Null()]),
    total_lines: Type.Integer(),
  }),
  handle: async ({ script_id, path, at, from_line = 1, max_lines }, { api, signal }) => {
    const address = `/scripts/${part(script_id)}/files/${fileParts(path)}`;
    const { body, etag = null } = await api.text(address, { query: { at }, signal });
    const lines = body.split('\n');
    const end = max_lines === undefined ? undefined : from_line - 1 + max_lines;
    return {
      path,
      text: lines.slice(from_line - 1, end).join('\n'),
      etag,
      total_lines: lines.length,
    };
  },
});

const writeFile = tool({
  name: 'write_file',
  title: 'Write a file of a script',
  description:
    'Saves the complete text of a new or existing file. With the etag from read_file, the request is ' +
    'rejected if the file has changed since. The history keeps earlier versions.',
  effect: 'replaces',
  input: Type.Object({
    script_id: ScriptId,
    path: Path,
    text: Type.String(),
    etag: Type.Optional(Type.String()),
  }),
  output: Saved,
  handle: async ({ script_id, path, text, etag }, { api, signal }) => {
    const address = `/scripts/${part(script_id)}/files/${fileParts(path)}`;
    const { body } = await api.call<object>('PUT', address, {
      bytes: Buffer.from(text),
      ...(etag !== undefined && { headers: { 'If-Match': etag } }),
      signal,
    });
    const approval_id = requestedIn(body);
    return approval_id === undefined ? picked(Saved, body) : { path, approval_id };
  },
});

const deleteFile = tool({
  name: 'delete_file',
  title: 'Delete a file of a script',
  description:
    'Deletes a file from the next version of a script. The history keeps earlier versions.',
  effect: 'replaces',
  input: Type.Object({ script_id: ScriptId, path: Path }),
  output: Type.Object({ deleted: Type.Optional(Type.String()), approval_id: ApprovalId }),
  handle: async ({ script_id, path }, { api, signal }) => {
    const address = `/scripts/${part(script_id)}/files/${fileParts(path)}`;
    const { body } = await api.call('DELETE', address, { signal });
    const approval_id = requestedIn(body);
    return approval_id === undefined ? { deleted: path } : { approval_id };
  },
});

const Happening = Type.Object({
  event_position: Type.Integer(),
  time: Type.String(),
  actor: Type.String(),
  action: Type.String(),
  version: Type.Union([Type.Integer(), Type.Null()]),
  changes: Type.Unknown(),
  files: Type.Unknown(),
});

const scriptHistory = tool({
  name: 'script_history',
  title: 'History of a script',
  description:
    'Lists the changes to a script and who made them, newest first. Other tools accept its times and ' +
    'positions as `at`.',
  effect: 'reads',
  input: Type.Object({ script_id: ScriptId, limit: Limit, cursor: Cursor }),
  output: Type.Object({ items: Type.Array(Happening), next_cursor: NextCursor }),
  handle: ({ script_id, ...query }, use) =>
    listOf(Happening, `/scripts/${part(script_id)}/history`, query, use),
});

export const scriptTools: readonly Tool[] = [
  findScripts,
  getScript,
  createScript,
  listFiles,
  readFile,
  writeFile,
  deleteFile,
  scriptHistory,
];
