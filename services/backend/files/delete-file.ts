/** Deletes and moves files. File contents remain stored for the versions that use them. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { DeleteFile, MoveFile } from '#domain/script/commands.ts';
import { pathProblem } from '#domain/script/path.ts';
import { editOf, executeEdit, type Edited } from '../access/edit-script.ts';
import { canSeeScript } from '../access/visibility.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { conditionOf, type Requested, type Saved } from './save-file.ts';

export interface FileCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly id: ScriptId; readonly path: string };
  readonly header: (name: string) => string | undefined;
}

export async function removeFile(call: FileCall, services: Services): Promise<Edited | Problem> {
  return await changeFile(call, services, { type: 'DeleteFile' });
}

export async function moveFile(
  call: FileCall & { readonly body: { readonly to: string } },
  services: Services,
): Promise<Saved | Requested | Problem> {
  const edited = await changeFile(call, services, { type: 'MoveFile', to: call.body.to });
  if (isProblem(edited)) return edited;
  const { outcome, changeId } = edited;
  if (changeId !== undefined) return { changeId, outcome };
  const moved = outcome.events.find((event) => event.type === 'FileMoved');
  if (moved === undefined) throw new Error('a moved file was not recorded');
  const { path, sha256, sizeBytes, version } = moved.data;
  const file = { path, sha256, size_bytes: sizeBytes, saved_at: moved.recordedAt };
  const followed = outcome.events.find((event) => event.type === 'ScriptChanged');
  return { file, scriptVersion: followed?.data.version ?? version, outcome };
}

type Change = Pick<DeleteFile, 'type'> | Pick<MoveFile, 'type' | 'to'>;

async function changeFile(
  { principal, context, parameters: { id, path }, header }: FileCall,
  services: Services,
  change: Change,
): Promise<Edited | Problem> {
  const unusable = pathProblem(path);
  if (unusable !== undefined) {
    return problem('invalid_path', `The path is not valid: ${unusable}.`);
  }
  if (!(await canSeeScript(principal, id, services.readModels))) return notFound;
  const condition = conditionOf(header('If-Match'));
  if (isProblem(condition)) return condition;
  const { expectedVersion, ...expected } = condition;
  const edit = { ...change, path, ...expected };
  const command = editOf(id, [edit], expectedVersion, context, services);
  return await executeEdit(command, context, services);
}
