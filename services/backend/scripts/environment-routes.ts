/** Reads and rebuilds the environment of a script's runs. */
import type { EnvironmentLock } from '#domain/ports/environment-locks.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import Type from 'typebox';
import { visibleScript } from '../access/visibility.ts';
import { requested } from '../approvals/schema.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound, problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pathParameters } from '../http/schema.ts';
import { Environment } from './environment-schema.ts';
import { editScript, shown } from './script-reply.ts';

const rebuild = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/environment/rebuild',
  operationId: 'rebuildEnvironment',
  summary: "Rebuild a script's environment at its next run",
  description:
    'Creates a new version of the script and resolves its requirements again. Runs of earlier versions ' +
    'keep their packages.',
  tag: 'Scripts',
  access: { right: 'scripts.write' },
  creates: true,
  parameters: { id: pathParameters.scriptId },
  responses: { 200: shown, 202: requested },
  handle: async (call, services) => {
    const { id: scriptId } = call.parameters;
    // Uses the command ID as the ID of the resolution, so that a repeated request does not start another
    // resolution.
    const settings = { resolution: call.context.commandId };
    return await editScript(call, services, scriptId, { type: 'ChangeScript', settings });
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/environment',
  operationId: 'getEnvironment',
  summary: 'Read the packages of a script version',
  description:
    'Packages are resolved at the first run of a version, per interpreter and machine type. All later ' +
    'runs of the version use the same packages. The list is empty before the first run or without ' +
    'requirements.',
  tag: 'Scripts',
  access: { right: 'files.read' },
  parameters: { id: pathParameters.scriptId },
  query: Exact({
    version: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Default: the current version.' }),
    ),
  }),
  responses: { 200: { description: 'The environment.', schema: Environment } },
  handle: async ({ principal, parameters: { id }, query }, { database, readModels }) => {
    const script = await visibleScript(principal, id, readModels);
    if (script === undefined) return notFound;
    const version = query.version ?? script.version;
    if (version > script.version)
      return problem('not_found', 'The script has no such version yet.');
    const locks = await new PostgresEnvironmentLocks(database).ofVersion(id, version);
    return json(200, { script_id: id, version, locks: locks.map(lockJson) });
  },
});

function lockJson({ target, lock, lockedAt }: EnvironmentLock) {
  const lines = lock.split('\n').filter((line) => line !== '');
  return {
    target,
    locked_at: lockedAt,
    packages: lines.map((line) => {
      const [pin = '', ...options] = line.split(' ');
      const [name, version] = pin.split('==');
      return { name, version, hashes: options.map((option) => option.replace('--hash=', '')) };
    }),
  };
}

export const scriptEnvironmentOperations: readonly Operation[] = [get, rebuild];
