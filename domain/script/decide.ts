import type { Aggregate, DecisionReads } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import { newNameProblem, newPathProblem } from '#domain/kernel/names.ts';
import { poolLock } from '#domain/pool/pool.ts';
import type {
  ChangeScript,
  CreateScript,
  FinishPurge,
  PurgeScript,
  RestoreScript,
  ScriptCommand,
} from './commands.ts';
import { deleteFile, filesProblem, moveFile, restoreFiles, saveFile } from './decide-files.ts';
import { fromElsewhere, setSource } from './decide-source.ts';
import type { ScriptChanged, ScriptEvent } from './events.ts';
import { settingsProblem, type ScriptSettings } from './settings.ts';
import {
  evolveScript,
  evolveScriptAll,
  initialScript,
  type PresentScript,
  type ScriptState,
} from './state.ts';

export interface ScriptDecisionFacts {
  /** Whether the group that the command names exists; true without a group. */
  readonly groupExists: boolean;
  /** The first of the pools in the command that does not exist. */
  readonly missingPool?: string | undefined;
}

export function decideScript(
  state: ScriptState,
  command: ScriptCommand,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  if (command.type === 'CreateScript') return create(state, command, facts);
  if (command.type === 'RestoreScript') return restore(state, command);
  if (command.type === 'PurgeScript' || command.type === 'FinishPurge')
    return purge(state, command);
  if (command.type === 'SetScriptSource') return setSource(state, command);
  if (state.status !== 'present') return refuse('not_found', 'Script not found.');
  if ('expectedVersion' in command && isStale(state, command.expectedVersion)) {
    return refuse(
      'version_mismatch',
      `The script has changed and is now at version ${state.version}. Reload it and try again.`,
    );
  }
  const managed = fromElsewhere(state, command);
  if (managed !== undefined) return managed;
  switch (command.type) {
    case 'ChangeScript':
      return change(state, command, facts);
    case 'SaveFile':
      return saveFile(state, command);
    case 'DeleteFile':
      return deleteFile(state, command);
    case 'MoveFile':
      return moveFile(state, command);
    case 'RestoreFiles':
      return restoreFiles(state, command);
    case 'EnableScript':
      return state.enabled ? accept() : accept(fact('ScriptEnabled', command.scriptId));
    case 'DisableScript':
      return state.enabled ? accept(fact('ScriptDisabled', command.scriptId)) : accept();
    case 'DeleteScript':
      return accept(fact('ScriptDeleted', command.scriptId));
  }
}

function restore(state: ScriptState, { scriptId }: RestoreScript): Decision<ScriptEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Script not found.');
  if (state.status === 'purged') {
    return refuse('script_purged', 'The script was purged. Its files were deleted permanently.');
  }
  return state.status === 'deleted' ? accept(fact('ScriptRestored', scriptId)) : accept();
}

function purge(
  state: ScriptState,
  { type, scriptId }: PurgeScript | FinishPurge,
): Decision<ScriptEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Script not found.');
  if (type === 'PurgeScript' && state.status === 'deleted') {
    return accept(fact('ScriptPurged', scriptId));
  }
  if (state.status !== 'purged') {
    return refuse(
      'script_not_deleted',
      'Only a deleted script can be purged. Delete the script first.',
    );
  }
  const isFinishing = type === 'FinishPurge' && !state.finished;
  return isFinishing ? accept(fact('ScriptPurgeFinished', scriptId)) : accept();
}

type PlainFact =
  | 'ScriptEnabled'
  | 'ScriptDisabled'
  | 'ScriptDeleted'
  | 'ScriptRestored'
  | 'ScriptPurged'
  | 'ScriptPurgeFinished';

function fact<Type extends PlainFact>(type: Type, scriptId: ScriptCommand['scriptId']) {
  return { type, data: { scriptId } };
}

function isStale(state: PresentScript, expectedVersion: number | undefined): boolean {
  return expectedVersion !== undefined && expectedVersion !== state.version;
}

function create(
  state: ScriptState,
  command: CreateScript,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  if (state.status !== 'absent') return refuse('already_exists', 'The script already exists.');
  const missing = missingProblem(facts);
  if (missing !== undefined) return refuse('validation_failed', missing);
  const unusable =
    newNameProblem('name', command.name) ??
    newNameProblem('tag', command.settings.tags) ??
    newPathProblem('entrypoint', command.settings.entrypoint) ??
    settingsProblem(command.settings);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  const problem = filesProblem(command);
  if (problem !== undefined) return problem;
  const { type: _, ...data } = command;
  return accept({ type: 'ScriptCreated', data });
}

function change(
  state: PresentScript,
  command: ChangeScript,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  const missing = missingProblem(facts);
  if (missing !== undefined) return refuse('validation_failed', missing);
  const { name, settings: wanted = {} } = command;
  const unusable =
    newNameProblem('name', name, state.name) ??
    newNameProblem('tag', wanted.tags, state.settings.tags) ??
    newPathProblem('entrypoint', wanted.entrypoint, state.settings.entrypoint) ??
    settingsProblem(wanted);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  const settings = changedSettings(state.settings, wanted);
  const data: ScriptChanged['data'] = {
    scriptId: command.scriptId,
    version: state.version + 1,
    ...(isNew(command.name, state.name) && { name: command.name }),
    ...(isNew(command.description, state.description) && { description: command.description }),
    ...(isNew(command.groupId, state.groupId) && { groupId: command.groupId }),
    ...(Object.keys(settings).length > 0 && { settings }),
  };
  return Object.keys(data).length > 2 ? accept({ type: 'ScriptChanged', data }) : accept();
}

function missingProblem({ groupExists, missingPool }: ScriptDecisionFacts): string | undefined {
  if (!groupExists) return 'Group not found.';
  return missingPool === undefined
    ? undefined
    : `The pool "${missingPool}" does not exist. Ask an administrator to create it.`;
}

/** The pools that a command names. */
function poolsOf(command: ScriptCommand): readonly string[] {
  return 'settings' in command ? (command.settings?.pools ?? []) : [];
}

function isNew<T>(wanted: T | undefined, present: T): wanted is T {
  return wanted !== undefined && wanted !== present;
}

function changedSettings(
  present: ScriptSettings,
  wanted: Partial<ScriptSettings>,
): Partial<ScriptSettings> {
  const differs = (name: string) =>
    canonicalJson(wanted[name as keyof ScriptSettings]) !==
    canonicalJson(present[name as keyof ScriptSettings]);
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => differs(name)));
}

async function missingPoolOf(
  command: ScriptCommand,
  reads: DecisionReads,
): Promise<string | undefined> {
  for (const name of poolsOf(command)) {
    if ((await reads.pool(name)) === undefined) return name;
  }
  return undefined;
}

export const scriptAggregate: Aggregate<
  ScriptState,
  ScriptCommand,
  ScriptEvent,
  ScriptDecisionFacts
> = {
  streamType: 'script',
  commands: {
    CreateScript: true,
    ChangeScript: true,
    SaveFile: true,
    DeleteFile: true,
    MoveFile: true,
    RestoreFiles: true,
    EnableScript: true,
    DisableScript: true,
    DeleteScript: true,
    RestoreScript: true,
    PurgeScript: true,
    FinishPurge: true,
    SetScriptSource: true,
  },
  events: {
    ScriptCreated: true,
    ScriptChanged: true,
    FileSaved: true,
    FileDeleted: true,
    FileMoved: true,
    FilesRestored: true,
    ScriptEnabled: true,
    ScriptDisabled: true,
    ScriptDeleted: true,
    ScriptRestored: true,
    ScriptPurged: true,
    ScriptPurgeFinished: true,
    ScriptSourceChanged: true,
  },
  initial: initialScript,
  evolve: evolveScript,
  evolveAll: evolveScriptAll,
  stateVersion: 11,
  decide: decideScript,
  streamOf: (command) => `script-${command.scriptId}`,
  guards: (command) => [
    ...('groupId' in command && command.groupId !== undefined
      ? ([`group-${command.groupId}`] as const)
      : []),
    ...poolsOf(command).map(poolLock),
  ],
  readFacts: async (command, reads) => ({
    missingPool: await missingPoolOf(command, reads),
    groupExists:
      !('groupId' in command) ||
      command.groupId === undefined ||
      (await reads.groupExists(command.groupId)),
  }),
};
