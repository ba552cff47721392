/** Decides commands about scripts that a Git repository provides (docs/git.md). */
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { settingsName } from '#domain/repository/repository.ts';
import type {
  ChangeCommand,
  CreateScript,
  EditScript,
  FinishPurge,
  PurgeScript,
  RestoreScript,
  ScriptCommand,
  SetScriptSource,
} from './commands.ts';
import type { ScriptEvent } from './events.ts';
import type { PresentScript, ScriptState } from './state.ts';

type Present = Exclude<ScriptCommand, AnyState>['type'];
type AnyState =
  | CreateScript
  | RestoreScript
  | PurgeScript
  | FinishPurge
  | SetScriptSource
  | EditScript
  | ChangeCommand;

/** Whether a command changes content that the repository defines. Disabling a script is not such a change. */
const isEdit: Readonly<Record<Present, boolean>> = {
  ChangeScript: true,
  SaveFile: true,
  DeleteFile: true,
  MoveFile: true,
  RestoreFiles: true,
  DeleteScript: true,
  EnableScript: false,
  DisableScript: false,
};

/** Refuses edits of a script that a repository provides. Only the repository itself may edit such a script. */
export function fromElsewhere(
  { source }: PresentScript,
  command: Extract<ScriptCommand, { type: Present }>,
): Decision<never> | undefined {
  if (source === null || !isEdit[command.type] || isRebuild(command)) return undefined;
  const from = 'repositoryId' in command ? command.repositoryId : undefined;
  if (from === source.repositoryId) return undefined;
  if (source.writeBack !== undefined && isNamed(command, settingsName)) return settingsFile;
  // The script must be deleted in the repository, because its folder could contain more than the script.
  const isAccepted = source.writeBack !== undefined && command.type !== 'DeleteScript';
  return isAccepted ? undefined : managed(source.path);
}

function isNamed(command: ScriptCommand, path: string): boolean {
  return (
    (command.type === 'SaveFile' && command.path === path) ||
    (command.type === 'MoveFile' && command.to === path)
  );
}

/** Rebuilding the environment is always allowed, because environments are not stored in the repository. */
function isRebuild(command: ScriptCommand): boolean {
  if (command.type !== 'ChangeScript') return false;
  const { type: _, scriptId: _id, settings = {}, ...others } = command;
  return Object.keys(others).length === 0 && Object.keys(settings).join() === 'resolution';
}

/** Deleting a script removes its source, so that users can edit the script after it is restored. */
export function setSource(
  state: ScriptState,
  { scriptId, repositoryId, source: given, startsWriteBack = false }: SetScriptSource,
): Decision<ScriptEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Script not found.');
  const writeBack = { version: state.version, pushed: null, conflict: null };
  const source = given !== null && startsWriteBack ? { ...given, writeBack } : given;
  const isOther = state.source !== null && state.source.repositoryId !== repositoryId;
  // Another repository now provides the script, so this repository has nothing to release.
  if (isOther) return source === null ? accept() : managed(state.source.path);
  if (isSameJson(state.source, source)) return accept();
  if (source !== null && state.status !== 'present')
    return refuse('not_found', 'Script not found.');
  return accept({ type: 'ScriptSourceChanged', data: { scriptId, source } });
}

const settingsFile = refuse(
  'validation_failed',
  `The file cannot be named ${settingsName}, because the repository keeps the script's settings in this file.`,
);

function managed(path: string): Decision<never> {
  return refuse(
    'managed_by_repository',
    `The script comes from a Git repository. Change it there (${path}), then push.`,
  );
}
