import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import type { ChangeScript, CreateScript, SaveFile, ScriptCommand } from './commands.ts';
import type { ScriptChanged, ScriptEvent } from './events.ts';
import { pathProblem } from './path.ts';
import { maxFileBytes, type ScriptSettings } from './settings.ts';
import { evolveScript, initialScript, storageUsedBytes, type ScriptState } from './state.ts';

type Present = Extract<ScriptState, { status: 'present' }>;

export interface ScriptDecisionFacts {
  /** Whether the group that the command names exists; true where it names none. */
  readonly groupExists: boolean;
}

export function decideScript(
  state: ScriptState,
  command: ScriptCommand,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  if (command.type === 'CreateScript') return create(state, command, facts);
  if (state.status !== 'present') return refuse('not_found', 'There is no such script.');
  if ('expectedVersion' in command && isStale(state, command.expectedVersion)) {
    return refuse('version_mismatch', `The script is at version ${state.version} now.`);
  }
  switch (command.type) {
    case 'ChangeScript':
      return change(state, command, facts);
    case 'SaveFile':
      return saveFile(state, command);
    case 'EnableScript':
      return state.enabled ? accept() : accept(fact('ScriptEnabled', command.scriptId));
    case 'DisableScript':
      return state.enabled ? accept(fact('ScriptDisabled', command.scriptId)) : accept();
    case 'DeleteScript':
      return accept(fact('ScriptDeleted', command.scriptId));
  }
}

function fact<Type extends 'ScriptEnabled' | 'ScriptDisabled' | 'ScriptDeleted'>(
  type: Type,
  scriptId: ScriptCommand['scriptId'],
) {
  return { type, data: { scriptId } };
}

function isStale(state: Present, expectedVersion: number | undefined): boolean {
  return expectedVersion !== undefined && expectedVersion !== state.version;
}

function create(
  state: ScriptState,
  command: CreateScript,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  if (state.status !== 'absent') return refuse('already_exists', 'The script exists already.');
  if (!facts.groupExists) return refuse('validation_failed', 'There is no such group.');
  const problem = filesProblem(command);
  if (problem !== undefined) return problem;
  const { type: _, ...data } = command;
  return accept({ type: 'ScriptCreated', data });
}

/** What is wrong with the files that a script is to start with. */
function filesProblem({ files, settings }: CreateScript): Decision<never> | undefined {
  const paths = new Set(files.map((file) => file.path));
  if (paths.size < files.length) return refuse('invalid_path', 'A path is there twice.');
  for (const { path, sizeBytes } of files) {
    const problem = pathProblem(path);
    if (problem !== undefined) return unusable(problem);
    const blocker = foldersOf(path).find((folder) => paths.has(folder));
    if (blocker !== undefined) return unusable(`"${blocker}" is in its way`);
    if (sizeBytes > maxFileBytes) return tooLarge();
  }
  return quotaProblem(settings, storageUsedBytes(files));
}

function change(
  state: Present,
  command: ChangeScript,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  if (!facts.groupExists) return refuse('validation_failed', 'There is no such group.');
  const settings = changedSettings(state.settings, command.settings ?? {});
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

function saveFile(state: Present, command: SaveFile): Decision<ScriptEvent> {
  const problem = pathProblem(command.path);
  if (problem !== undefined) return unusable(problem);
  const present = state.files.get(command.path);
  if (command.expectedSha256 !== undefined && present?.sha256 !== command.expectedSha256) {
    return refuse('version_mismatch', 'The file has changed since it was read.');
  }
  if (present?.sha256 === command.sha256) return accept();
  const blocker = blockingPath(state, command.path);
  if (blocker !== undefined) return unusable(`"${blocker}" is in its way`);
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

/** A file that would have to be a folder for `path` to exist, or a file beneath `path`. */
function blockingPath(state: Present, path: string): string | undefined {
  return (
    foldersOf(path).find((folder) => state.files.has(folder)) ??
    [...state.files.keys()].find((other) => other.startsWith(`${path}/`))
  );
}

/** The folders that `path` lies in, outermost first. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function unusable(why: string): Decision<never> {
  return refuse('invalid_path', `The path cannot be used: ${why}.`);
}

function tooLarge(): Decision<never> {
  return refuse('payload_too_large', `A file may have ${maxFileBytes} bytes at most.`);
}

function quotaProblem(settings: ScriptSettings, usedBytes: number): Decision<never> | undefined {
  const { storageQuotaBytes } = settings;
  if (usedBytes <= storageQuotaBytes) return undefined;
  return refuse(
    'storage_quota_exceeded',
    `The script would take ${usedBytes} of its ${storageQuotaBytes} bytes.`,
  );
}

export const scriptAggregate: Aggregate<
  ScriptState,
  ScriptCommand,
  ScriptEvent,
  ScriptDecisionFacts
> = {
  streamType: 'script',
  initial: initialScript,
  evolve: evolveScript,
  decide: decideScript,
  streamOf: (command) => `script-${command.scriptId}`,
  guards: (command) =>
    'groupId' in command && command.groupId !== undefined ? [`group-${command.groupId}`] : [],
  gather: async (command, world) => ({
    groupExists:
      !('groupId' in command) ||
      command.groupId === undefined ||
      (await world.groupExists(command.groupId)),
  }),
};
