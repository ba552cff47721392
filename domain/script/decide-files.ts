/** Decides commands about a script's files. */
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { CreateScript, DeleteFile, MoveFile, RestoreFiles, SaveFile } from './commands.ts';
import type { FileVersion, ScriptEvent } from './events.ts';
import { entrypointProblem, newPathProblem } from './path.ts';
import { maxFileBytes, type ScriptSettings } from './settings.ts';
import { storageUsedBytes, type PresentScript } from './state.ts';

/** Describes the problem with the files of a new script or version. Returns `undefined` if the files are valid. */
export function filesProblem({
  files,
  settings,
}: Pick<CreateScript, 'files' | 'settings'>): Decision<never> | undefined {
  const paths = new Set(files.map((file) => file.path));
  if (paths.size < files.length) return refuse('invalid_path', 'A path appears twice.');
  for (const { path, sizeBytes } of files) {
    const problem = newPathProblem(path);
    if (problem !== undefined) return unusable(problem);
    const blocker = foldersOf(path).find((folder) => paths.has(folder));
    if (blocker !== undefined) return unusable(`"${blocker}" already exists at this path`);
    if (sizeBytes > maxFileBytes) return tooLarge();
  }
  return quotaProblem(settings, storageUsedBytes(files));
}

export function saveFile(state: PresentScript, command: SaveFile): Decision<ScriptEvent> {
  const present = state.files.get(command.path);
  const problem = present === undefined ? newPathProblem(command.path) : undefined;
  if (problem !== undefined) return unusable(problem);
  if (isOther(present, command.expectedSha256)) return changed;
  if (present?.sha256 === command.sha256) return accept();
  const blocker = blockingPath(state.files, command.path);
  if (blocker !== undefined) return unusable(`"${blocker}" already exists at this path`);
  if (command.sizeBytes > maxFileBytes) return tooLarge();
  const used = storageUsedBytes(state.files.values());
  const after = used - (present?.sizeBytes ?? 0) + command.sizeBytes;
  const { scriptId, path, sha256, sizeBytes } = command;
  return (
    quotaProblem(state.settings, after) ??
    accept({
      type: 'FileSaved',
      data: { scriptId, version: state.version + 1, path, sha256, sizeBytes },
    })
  );
}

/** The last file cannot be deleted, because a script without files cannot run. The entry point can be deleted,
 *  because the setting may refer to a file that does not exist yet. */
export function deleteFile(state: PresentScript, command: DeleteFile): Decision<ScriptEvent> {
  const { scriptId, path } = command;
  const present = state.files.get(path);
  if (present === undefined) return noSuchFile;
  if (isOther(present, command.expectedSha256)) return changed;
  if (state.files.size === 1) return refuse('last_file', 'A script needs at least one file.');
  return accept({ type: 'FileDeleted', data: { scriptId, version: state.version + 1, path } });
}

/** Moves a file. If the file is the entry point, the setting is updated too. */
export function moveFile(state: PresentScript, command: MoveFile): Decision<ScriptEvent> {
  const { scriptId, path: from, to } = command;
  const problem = newPathProblem(to);
  if (problem !== undefined) return unusable(problem);
  const isEntrypoint = state.settings.entrypoint === from;
  const unrunnable = isEntrypoint ? entrypointProblem(to) : undefined;
  if (unrunnable !== undefined) {
    return refuse(
      'validation_failed',
      `The entry point cannot be moved to this path: ${unrunnable}.`,
    );
  }
  const present = state.files.get(from);
  if (present === undefined) return noSuchFile;
  if (isOther(present, command.expectedSha256)) return changed;
  if (state.files.has(to)) return refuse('already_exists', `The file "${to}" already exists.`);
  const others = new Map(state.files);
  others.delete(from);
  const blocker = blockingPath(others, to);
  if (blocker !== undefined) return unusable(`"${blocker}" already exists at this path`);
  const version = state.version + 1;
  const { sha256, sizeBytes } = present;
  const moved = { scriptId, version, from, path: to, sha256, sizeBytes };
  if (!isEntrypoint) return accept({ type: 'FileMoved', data: moved });
  const settings = { entrypoint: to };
  return accept<ScriptEvent>(
    { type: 'FileMoved', data: moved },
    { type: 'ScriptChanged', data: { scriptId, version: version + 1, settings } },
  );
}

/** Restores the files but not the settings. The entry point changes only if its file would otherwise be missing. */
export function restoreFiles(state: PresentScript, command: RestoreFiles): Decision<ScriptEvent> {
  const { scriptId, restoredVersion, files, entrypoint } = command;
  const paths = new Set(files.map(({ path }) => path));
  const saved = files.filter(({ path, sha256 }) => state.files.get(path)?.sha256 !== sha256);
  const deleted = [...state.files.keys()].filter((path) => !paths.has(path));
  if (saved.length + deleted.length === 0) return accept();
  if (files.length === 0) return refuse('last_file', 'A script needs at least one file.');
  const problem = filesProblem({ files, settings: state.settings });
  if (problem !== undefined) return problem;
  const version = state.version + 1;
  const restored = { scriptId, version, restoredVersion, saved, deleted };
  const isRunnable = paths.has(state.settings.entrypoint) || !paths.has(entrypoint);
  if (isRunnable) return accept({ type: 'FilesRestored', data: restored });
  const settings = { entrypoint };
  return accept<ScriptEvent>(
    { type: 'FilesRestored', data: restored },
    { type: 'ScriptChanged', data: { scriptId, version: version + 1, settings } },
  );
}

const noSuchFile = refuse('not_found', 'File not found.');
const changed = refuse(
  'version_mismatch',
  'The file has changed since you read it. Reload it and try again.',
);

function isOther(
  present: FileVersion | undefined,
  expectedSha256: string | null | undefined,
): boolean {
  return expectedSha256 !== undefined && (present?.sha256 ?? null) !== expectedSha256;
}

/** Returns an existing file that conflicts with `path`. Such a file is either at a parent folder of `path` or below
 *  `path`. */
function blockingPath(files: PresentScript['files'], path: string): string | undefined {
  return (
    foldersOf(path).find((folder) => files.has(folder)) ??
    [...files.keys()].find((other) => other.startsWith(`${path}/`))
  );
}

/** Returns the parent folders of `path`, outermost first. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function unusable(why: string): Decision<never> {
  return refuse('invalid_path', `The path is not valid: ${why}.`);
}

function tooLarge(): Decision<never> {
  return refuse('payload_too_large', `A file may have at most ${maxFileBytes} bytes.`);
}

function quotaProblem(settings: ScriptSettings, usedBytes: number): Decision<never> | undefined {
  const { storageQuotaBytes } = settings;
  if (usedBytes <= storageQuotaBytes) return undefined;
  return refuse(
    'storage_quota_exceeded',
    `The files of the script would use ${usedBytes} bytes, but the quota is ${storageQuotaBytes} bytes. Delete ` +
      'files or raise the quota.',
  );
}
