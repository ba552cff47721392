/** Returns the differences between two versions of a script. */
import { operation, type Operation } from '../../http/operation.ts';
import { defaultLimit, keyOf, pageOf } from '../../http/paging.ts';
import { isProblem, notFound } from '../../http/problem.ts';
import { json } from '../../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../../http/schema.ts';
import {
  changedPaths,
  changedSettings,
  diffOf,
  fileJson,
  noVersion,
  scriptOfVersion,
} from './diff.ts';
import { ScriptDiff, versionParameter, wireName } from './schema.ts';
import { canSeeScriptHistory } from './script-at.ts';
import { scriptStateAt } from './state-at.ts';

const diff = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/diff',
  operationId: 'diffScript',
  summary: 'Compare two versions of a script; also for deleted scripts',
  description:
    'Returns changed files as unified diffs, and changed settings. By default, compares the ' +
    'newest version with its predecessor.',
  tag: 'Scripts',
  access: { right: 'files.read' },
  parameters: { id: pathParameters.scriptId },
  query: Exact({
    ...pageQuery,
    from: versionParameter('The earlier version.'),
    to: versionParameter('The later version.'),
  }),
  responses: { 200: { description: 'One page of files.', schema: ScriptDiff, headers: ['Link'] } },
  handle: async ({ principal, parameters: { id }, query, url }, { database, objects }) => {
    if (!(await canSeeScriptHistory(principal, id, database))) return notFound;
    const now = await scriptStateAt(database, id);
    const to = query.to ?? (now.status === 'absent' ? 1 : now.version);
    const from = query.from ?? Math.max(1, to - 1);
    const [one, other] = await Promise.all([
      scriptOfVersion(database, id, from),
      scriptOfVersion(database, id, to),
    ]);
    if (one === undefined || other === undefined) return noVersion;
    const { limit = defaultLimit, cursor } = query;
    const request = { list: 'script-diff', filter: [id, from, to], url, limit, cursor };
    const after = keyOf(request, (text) => text);
    if (isProblem(after)) return after;
    const changed = changedPaths(one, other, after.key);
    const shown = changed.slice(0, limit);
    const files = await Promise.all(
      shown.map(async (each) => ({ ...fileJson(each), ...(await diffOf(objects, id, each)) })),
    );
    const next = changed.length > limit ? (shown.at(-1)?.path ?? null) : null;
    const { body, headers } = pageOf(request, files, next);
    const page = body.kind === 'json' ? (body.value as object) : {};
    const settings = changedSettings(one, other).map((each) => ({
      ...each,
      name: wireName(each.name),
    }));
    return json(200, { from, to, settings, ...page }, headers);
  },
});

export const scriptDiffOperations: readonly Operation[] = [diff];
