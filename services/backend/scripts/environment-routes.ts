/** The environment of a script's runs. */
import type { EnvironmentLock } from '#domain/ports/environment-locks.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import Type from 'typebox';
import { visibleScript } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { Environment } from './environment-schema.ts';
import { commandScript, showScript, shown } from './script-reply.ts';

const rebuild = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/environment/rebuild',
  operationId: 'rebuildEnvironment',
  summary: "Resolve a script's requirements anew at its next run",
  description: 'Makes a new version of the script; runs of earlier versions keep what they have.',
  tag: 'Scripts',
  access: { right: 'scripts.write' },
  creates: true,
  parameters: { id: pathParameters.scriptId },
  responses: { 200: shown },
  handle: async (call, services) => {
    const { id: scriptId } = call.parameters;
    // The request names the resolution, so that a repeated one asks for the same.
    const settings = { resolution: call.context.commandId };
    const change = { type: 'ChangeScript', scriptId, settings } as const;
    const outcome = await commandScript(call, services, change);
    return isProblem(outcome) ? outcome : await showScript(call, scriptId, services, outcome);
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/environment',
  operationId: 'getEnvironment',
  summary: "Which packages the runs of a script's version get",
  description:
    'They are chosen at the first run of the version, for each kind of interpreter and machine, and stay for all its runs. There are none before the first run, and none where nothing is required.',
  tag: 'Scripts',
  access: { right: 'files.read' },
  parameters: { id: pathParameters.scriptId },
  query: Type.Object(
    { version: Type.Optional(Type.Integer({ minimum: 1, description: 'Default: the present.' })) },
    { additionalProperties: false },
  ),
  responses: { 200: { description: 'The environment.', schema: Environment } },
  handle: async ({ principal, parameters: { id }, query }, { database, readModels }) => {
    const script = await visibleScript(principal, id, readModels);
    if (script === undefined) return notFound;
    const version = query.version ?? script.version;
    if (version > script.version) return problem('not_found', 'There is no such version yet.');
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
