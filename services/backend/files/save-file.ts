/** Saves a file. Stores the content in a temporary location first, and in the object store after all checks. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ChangeId, ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { EditScript, SaveFile } from '#domain/script/commands.ts';
import { pathProblem } from '#domain/script/path.ts';
import { findSavedFile, type ScriptFileView } from '#projections/scripts/files.ts';
import type { Static } from 'typebox';
import { editOf, executeEdit } from '../access/edit-script.ts';
import { canSeeScript } from '../access/visibility.ts';
import { mismatch, tagsOf } from '../http/conditional.ts';
import type { RawBody } from '../http/operation.ts';
import { refusalProblem, type Accepted } from '../http/outcome.ts';
import { fieldProblem, isProblem, notFound, type Problem, problem } from '../http/problem.ts';
import { spool, toAsyncIterable, type Spooled } from '../http/wire/spool.ts';
import type { FileContent } from '../scripts/schema.ts';
import type { Services } from '../services.ts';

export interface SaveCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly parameters: { readonly id: ScriptId; readonly path: string };
  readonly body: Static<typeof FileContent>;
  readonly raw: RawBody | undefined;
  readonly header: (name: string) => string | undefined;
}

export interface Saved {
  readonly file: ScriptFileView;
  readonly scriptVersion: number;
  readonly outcome: Accepted;
}

/** A change that awaits approval. */
export interface Requested {
  readonly changeId: ChangeId;
  readonly outcome: Accepted;
}

export async function saveFile(
  call: SaveCall,
  services: Services,
): Promise<Saved | Requested | Problem> {
  const { id, path } = call.parameters;
  const unusable = pathProblem(path);
  if (unusable !== undefined) {
    return problem('invalid_path', `The path is not valid: ${unusable}.`);
  }
  if (!(await canSeeScript(call.principal, id, services.readModels))) return notFound;
  const condition = conditionOf(call.header('If-Match'));
  if (isProblem(condition)) return condition;
  const chunks = contentOf(call);
  if (isProblem(chunks)) return chunks;
  const content = await spool(chunks);
  try {
    const { sha256, sizeBytes } = content;
    const { expectedVersion, ...expected } = condition;
    const edit = { type: 'SaveFile', path, sha256, sizeBytes, ...expected } as const;
    const command = editOf(id, [edit], expectedVersion, call.context, services);
    return await save(command, edit, content, call.context, services);
  } finally {
    await content.remove();
  }
}

/** Checks the command before it stores the content, so that a refused save leaves nothing behind. */
async function save(
  command: EditScript,
  { path, sha256 }: Pick<SaveFile, 'path' | 'sha256'>,
  content: Spooled,
  context: CommandContext,
  { commands, objects, readModels }: Services,
): Promise<Saved | Requested | Problem> {
  const refusal = await commands.check(command);
  if (refusal !== undefined) return refusalProblem(refusal);
  const { scriptId } = command;
  await objects.putStream(objectKey.scriptBlob(scriptId, sha256), content.chunks());
  const edited = await executeEdit(command, context, { commands, readModels });
  if (isProblem(edited)) return edited;
  const { outcome, changeId } = edited;
  if (changeId !== undefined) return { changeId, outcome };
  const file = await findSavedFile(readModels, scriptId, path, sha256);
  if (file === undefined) throw new Error('a saved file is not in the read model');
  return { file, scriptVersion: file.version, outcome };
}

function contentOf({ raw, body }: SaveCall): AsyncIterable<Uint8Array> | Problem {
  if (raw !== undefined) return raw.chunks;
  if (body.encoding !== 'base64') return toAsyncIterable(Buffer.from(body.content, 'utf8'));
  const isBase64 = body.content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(body.content);
  return isBase64
    ? toAsyncIterable(Buffer.from(body.content, 'base64'))
    : fieldProblem('content', 'is not base64');
}

/** `If-Match` may contain the hash of the file, or the version of the script. */
export function conditionOf(
  ifMatch: string | undefined,
): { readonly expectedSha256?: string; readonly expectedVersion?: number } | Problem {
  const tags = tagsOf(ifMatch);
  if (tags === undefined) return {};
  const [tag = ''] = tags;
  if (tags.length > 1) return mismatch;
  if (/^[0-9a-f]{64}$/.test(tag)) return { expectedSha256: tag };
  return /^\d{1,9}$/.test(tag) ? { expectedVersion: Number(tag) } : mismatch;
}
