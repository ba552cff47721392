/** Copies scripts, and restores deleted ones. */
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { CreateScript } from '#domain/script/commands.ts';
import { settingsOf } from '#projections/scripts/apply.ts';
import { listFiles } from '#projections/scripts/files.ts';
import type { ScriptView } from '#projections/scripts/queries.ts';
import { automationProblem } from '../access/protected-scripts.ts';
import { visibleScript } from '../access/visibility.ts';
import { requested } from '../approvals/schema.ts';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { visibleGroupId } from './create-script.ts';
import { recordScript } from './record-script.ts';
import { created, editScript, showScript, shown } from './script-reply.ts';
import { ScriptCopy } from './schema.ts';

const tag = 'Scripts';
const parameters = { id: pathParameters.scriptId };
const maxNameLength = 200;

const copy = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/copy',
  operationId: 'copyScript',
  summary: 'Copy a script with its current files and settings',
  description:
    'The copy is a new, enabled script at version 1, without runs or secrets. By default it is named "… ' +
    '(copy)" and stays in the same group.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  creates: true,
  body: { schema: ScriptCopy, example: { name: 'Price watcher, second try' }, optional: true },
  responses: { 201: created },
  refusals: ['storage_quota_exceeded', 'storage_full'],
  handle: async (call, services) => {
    const { principal, parameters: path, body, context } = call;
    const source = await visibleScript(principal, path.id, services.readModels);
    if (source === undefined) return notFound;
    const groupId = visibleGroupId(principal, body.group_id ?? source.group_id);
    if (isProblem(groupId)) return groupId;
    const name = body.name ?? copyName(source.name);
    const command = await copyOf(source, { name, groupId }, services);
    // A copy of a protected script is also protected.
    const denied = source.keep_alive
      ? await automationProblem(path.id, principal, services)
      : undefined;
    if (denied !== undefined) return denied;
    const made = await recordScript(command, blobsOf(source, services), context, services);
    if (isProblem(made)) return made;
    return await showScript(call, made.scriptId, services, made.outcome, 201);
  },
});

/** Reads all files of a single version, so that versions are not mixed. */
async function copyOf(
  source: ScriptView,
  chosen: Pick<CreateScript, 'name' | 'groupId'>,
  { readModels, ids }: Services,
): Promise<CreateScript> {
  const { version } = source;
  const files = await listFiles(readModels, mustParse(parseScriptId, source.script_id), {
    version,
  });
  return {
    type: 'CreateScript',
    scriptId: mustParse(parseScriptId, ids.next()),
    ...chosen,
    description: source.description,
    settings: settingsOf(source),
    files: files.map(({ path, sha256, size_bytes: sizeBytes }) => ({ path, sha256, sizeBytes })),
  };
}

function copyName(name: string): string {
  const suffix = ' (copy)';
  return `${name.slice(0, maxNameLength - suffix.length).toWellFormed()}${suffix}`;
}

function blobsOf({ script_id: id }: ScriptView, { objects }: Services) {
  return async (sha256: string): Promise<AsyncIterable<Uint8Array>> => {
    const chunks = await objects.getStream(objectKey.scriptBlob(id, sha256));
    if (chunks === undefined) throw new Error(`content ${sha256} is missing`);
    return chunks;
  };
}

const undelete = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/undelete',
  operationId: 'undeleteScript',
  summary: 'Restore a deleted script',
  description: 'Restoring a script that is not deleted has no effect.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  responses: { 200: shown, 202: requested },
  refusals: ['script_purged'],
  handle: async (call, services) => {
    return await editScript(call, services, call.parameters.id, { type: 'RestoreScript' });
  },
});

export const scriptCopyOperations: readonly Operation[] = [copy, undelete];
