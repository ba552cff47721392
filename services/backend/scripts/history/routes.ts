/** Lists the history of a script, even after the script's deletion. */
import { actorName } from '#projections/actors.ts';
import { operation, type Operation } from '../../http/operation.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../../http/paging.ts';
import { isProblem, notFound } from '../../http/problem.ts';
import { Exact, pageQuery, pathParameters } from '../../http/schema.ts';
import { readScriptHistory, type HistoryEntry } from './changes.ts';
import { HistoryPage, wireName } from './schema.ts';
import { canSeeScriptHistory } from './script-at.ts';

const list = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/history',
  operationId: 'listScriptHistory',
  summary: 'List the history of a script, newest first; also for deleted scripts',
  description:
    '`/scripts/{id}/diff` compares two versions. `?at=<event_position>` reads the content at that point ' +
    'in time.',
  tag: 'Scripts',
  access: { right: 'files.read' },
  parameters: { id: pathParameters.scriptId },
  query: Exact(pageQuery),
  responses: onePage(HistoryPage),
  handle: async ({ principal, parameters: { id }, query, url }, { database }) => {
    if (!(await canSeeScriptHistory(principal, id, database))) return notFound;
    const { limit, cursor } = query;
    const request = { list: 'script-history', filter: id, url, limit, cursor };
    const before = keyOf(request, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined));
    if (isProblem(before)) return before;
    const rows = await readScriptHistory(database, id, before.key, (limit ?? defaultLimit) + 1);
    return pageReply(request, rows, ({ event }) => String(event.version), entryJson);
  },
});

function entryJson({ event, files }: HistoryEntry) {
  const { type, position, recordedAt, metadata } = event;
  const data = { ...event.data } as Readonly<Record<string, unknown>>;
  const { scriptId: _, version, settings, ...rest } = data;
  const changes = toWireNames(rest);
  return {
    event_position: position.globalPosition,
    time: recordedAt,
    actor: actorName(metadata.actor),
    action: wireName(type).slice(1),
    version: type === 'ScriptCreated' ? 1 : (version ?? null),
    changes: settings === undefined ? changes : { ...changes, ...toWireNames(settings as object) },
    files,
  };
}

/** Converts field names to the wire format. Values are unchanged. */
function toWireNames(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [wireName(name), value]));
}

export const scriptHistoryOperations: readonly Operation[] = [list];
