/** Decides commands about a script's creation, name, group and settings. */
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { newNameProblem, newPathProblem } from '#domain/kernel/names.ts';
import { pickChanges } from '#domain/kernel/pick-changes.ts';
import type { ChangeScript, CreateScript } from './commands.ts';
import { filesProblem } from './decide-files.ts';
import type { ScriptChanged, ScriptEvent } from './events.ts';
import { settingsProblem } from './settings.ts';
import type { PresentScript, ScriptState } from './state.ts';

export interface ScriptDecisionFacts {
  /** Whether the group in the command exists. True if the command contains no group. */
  readonly groupExists: boolean;
  /** The first pool in the command that does not exist, if any. */
  readonly missingPool?: string | undefined;
  /** Whether a user other than the caller could approve the change. */
  readonly otherApprover?: boolean;
}

export function create(
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

export function change(
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
  const settings = pickChanges(state.settings, wanted);
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

function isNew<T>(wanted: T | undefined, present: T): wanted is T {
  return wanted !== undefined && wanted !== present;
}
