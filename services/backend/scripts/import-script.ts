/** Creates scripts from archives. The upload is written to a temporary file. Its files are stored after all checks. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { FileVersion } from '#domain/script/events.ts';
import { entrypointProblem } from '#domain/script/path.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import type { Static } from 'typebox';
import { formFile } from '../http/archives/multipart.ts';
import { readZip, type Archive } from '../http/archives/read-zip.ts';
import type { RawBody } from '../http/operation.ts';
import { badField, fieldProblem, isProblem, type Problem, problem } from '../http/problem.ts';
import { spoolToFile, toAsyncIterable, type SpooledFile } from '../http/wire/spool.ts';
import type { Services } from '../services.ts';
import { groupFor } from './create-script.ts';
import { recordScript, type RecordedScript } from './record-script.ts';
import type { archiveQuery, ScriptArchive } from './schema.ts';

/** The maximum size of the upload, including its form. */
export const maxArchiveBytes = 101 * 1024 * 1024;

export interface ImportCall {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly query: Static<typeof archiveQuery>;
  readonly body: Static<typeof ScriptArchive>;
  readonly raw: RawBody | undefined;
  readonly header: (name: string) => string | undefined;
}

interface Upload {
  readonly file: SpooledFile;
  /** The name of the archive, as given by the client. */
  readonly name?: string;
}

export async function importScript(
  call: ImportCall,
  services: Services,
): Promise<RecordedScript | Problem> {
  const upload = await receive(call);
  if (isProblem(upload)) return upload;
  try {
    const archive = await readZip(upload.file.path);
    if (isProblem(archive)) return archive;
    try {
      return await make(call, archive, upload.name, services);
    } finally {
      archive.close();
    }
  } finally {
    await upload.file.remove();
  }
}

async function receive({ raw, body, header }: ImportCall): Promise<Upload | Problem> {
  const contentType = header('Content-Type') ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (raw === undefined) {
    const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(body.content) && body.content.length % 4 === 0;
    if (!isBase64) return fieldProblem('content', 'is not base64');
    return { file: await spoolToFile(toAsyncIterable(Buffer.from(body.content, 'base64'))) };
  }
  switch (mediaType) {
    case 'multipart/form-data':
      return (await formFile(raw.chunks, contentType)) ?? noFile;
    case 'application/zip':
    case 'application/x-zip-compressed':
    case 'application/octet-stream':
      return { file: await spoolToFile(raw.chunks) };
    default:
      return problem(
        'unsupported_media_type',
        'Send the archive as application/zip, multipart/form-data or application/json.',
      );
  }
}

const noFile = problem('validation_failed', 'The form is truncated, or has no field "file".');

async function make(
  call: ImportCall,
  archive: Archive,
  uploadName: string | undefined,
  services: Services,
): Promise<RecordedScript | Problem> {
  const { principal, query } = call;
  const groupId = groupFor(principal, query.group_id);
  if (isProblem(groupId)) return groupId;
  const entrypoint = query.entrypoint ?? defaultSettings.entrypoint;
  const unusable = entrypointProblem(entrypoint);
  if (unusable !== undefined) return badField('entrypoint', unusable);
  const { files, folder } = withoutTopFolder(archive.files, entrypoint);
  if (!files.some((file) => file.path === entrypoint)) {
    const detail = `The archive has no "${entrypoint}". Name the file to run as \`entrypoint\`.`;
    return problem('validation_failed', detail);
  }
  const command = {
    type: 'CreateScript',
    scriptId: mustParse(parseScriptId, services.ids.next()),
    name: query.name ?? nameOf(uploadName) ?? folder ?? 'Imported script',
    description: '',
    groupId,
    settings: { ...defaultSettings, entrypoint },
    files,
  } as const;
  return await recordScript(command, archive.open, call.context, services);
}

/** Removes the archive's single top-level folder, unless the given entry point includes this folder. */
function withoutTopFolder(
  files: readonly FileVersion[],
  entrypoint: string,
): { readonly files: readonly FileVersion[]; readonly folder?: string } {
  const [folder = ''] = files[0]?.path.split('/') ?? [];
  const prefix = `${folder}/`;
  const isTop =
    files.every(({ path }) => path.startsWith(prefix)) &&
    files.some(({ path }) => path === prefix + entrypoint) &&
    !files.some(({ path }) => path === entrypoint);
  if (!isTop) return { files };
  return {
    files: files.map((file) => ({ ...file, path: file.path.slice(prefix.length) })),
    folder,
  };
}

function nameOf(uploadName: string | undefined): string | undefined {
  const name = uploadName
    ?.replace(/\.zip$/i, '')
    .trim()
    .slice(0, 200)
    .toWellFormed();
  return name === '' ? undefined : name;
}
