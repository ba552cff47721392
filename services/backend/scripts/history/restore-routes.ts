/** Restores the files of an earlier version as a new version. */
import Type from 'typebox';
import { canSeeScript } from '../../access/visibility.ts';
import { versionOf } from '../../http/conditional.ts';
import { operation, type Operation } from '../../http/operation.ts';
import { isProblem, notFound } from '../../http/problem.ts';
import { Exact, pathParameters } from '../../http/schema.ts';
import { requested } from '../../approvals/schema.ts';
import { editScript, shown } from '../script-reply.ts';
import { noVersion, scriptOfVersion } from './diff.ts';

const VersionToRestore = Exact(
  { version: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }) },
  { title: 'VersionToRestore' },
);

const restore = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/restore',
  operationId: 'restoreScriptVersion',
  summary: 'Restore the files of an earlier version',
  description:
    'Creates a new version with the files of the earlier version. Settings stay unchanged. If the earlier ' +
    'version does not contain the current entry point, its own entry point is restored as well. Restoring the current files has no effect.',
  tag: 'Scripts',
  access: { right: 'scripts.write' },
  parameters: { id: pathParameters.scriptId },
  requestHeaders: ['If-Match'],
  body: { schema: VersionToRestore, example: { version: 1 } },
  responses: { 200: shown, 202: requested },
  refusals: [
    'approval_outdated',
    'invalid_path',
    'last_file',
    'managed_by_repository',
    'storage_quota_exceeded',
    'version_mismatch',
  ],
  handle: async (call, services) => {
    const { principal, header } = call;
    const scriptId = call.parameters.id;
    const restoredVersion = call.body.version;
    if (!(await canSeeScript(principal, scriptId, services.readModels))) return notFound;
    const condition = versionOf(header('If-Match'));
    if (isProblem(condition)) return condition;
    const earlier = await scriptOfVersion(services.database, scriptId, restoredVersion);
    if (earlier === undefined) return noVersion;
    const files = [...earlier.files.values()].map(({ path, sha256, sizeBytes }) => {
      return { path, sha256, sizeBytes };
    });
    const { entrypoint } = earlier.settings;
    const edit = { type: 'RestoreFiles', restoredVersion, files, entrypoint } as const;
    return await editScript(call, services, scriptId, edit, condition.version);
  },
});

export const scriptRestoreOperations: readonly Operation[] = [restore];
