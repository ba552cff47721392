import type { Aggregate, DecisionReads } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import { poolLock } from '#domain/pool/pool.ts';
import { proposed, type KnownScript } from './change.ts';
import {
  editTypes,
  type ChangeCommand,
  type ChangeScript,
  type CreateScript,
  type Edit,
  type EditCommand,
  type EditScript,
  type FinishPurge,
  type PurgeScript,
  type RestoreScript,
  type ScriptCommand,
} from './commands.ts';
import {
  approvalRequired,
  decideChange,
  editScript,
  needsApproval,
  withdrawals,
  type Apply,
} from './decide-change.ts';
import { deleteFile, moveFile, restoreFiles, saveFile } from './decide-files.ts';
import { change, create, type ScriptDecisionFacts } from './decide-settings.ts';
import { fromElsewhere, setSource } from './decide-source.ts';
import type { ScriptEvent } from './events.ts';
import { evolveScript, evolveScriptAll, initialScript, type ScriptState } from './state.ts';

export function decideScript(
  state: ScriptState,
  command: ScriptCommand,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  const apply: Apply = (script, edits) => applyEdits(script, command.scriptId, edits, facts);
  if (command.type === 'CreateScript') return create(state, command, facts);
  if (command.type === 'EditScript') {
    if (state.status === 'absent') return refuse('not_found', 'Script not found.');
    return staleProblem(state, command) ?? editScript(state, command, apply);
  }
  if (isOfChange(command)) {
    return decideChange(state, command, apply, facts.otherApprover ?? true);
  }
  if (isEdit(command) && state.status !== 'absent' && needsApproval(state, [command])) {
    return approvalRequired;
  }
  return decideUnprotected(state, command, facts);
}

function isOfChange(command: ScriptCommand): command is ChangeCommand {
  return 'changeId' in command;
}

/** Whether a command is allowed in a requested change. */
export function isEdit(command: { readonly type: string }): command is EditCommand {
  return (editTypes as readonly string[]).includes(command.type);
}

/** Decides the edits one after another, without regard to the script's protection. */
export function applyEdits(
  script: KnownScript,
  scriptId: ScriptId,
  edits: readonly Edit[],
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  const events: ScriptEvent[] = [];
  let present = script;
  for (const edit of edits) {
    const decision = decideUnprotected(present, { ...edit, scriptId } as EditCommand, facts);
    if (decision.kind === 'refused') return decision;
    events.push(...decision.events);
    present = proposed(present, decision.events);
  }
  return accept(...events);
}

type UnprotectedCommand = Exclude<ScriptCommand, CreateScript | EditScript | ChangeCommand>;

function decideUnprotected(
  state: ScriptState,
  command: UnprotectedCommand,
  facts: ScriptDecisionFacts,
): Decision<ScriptEvent> {
  if (command.type === 'RestoreScript') return restore(state, command);
  if (command.type === 'PurgeScript' || command.type === 'FinishPurge')
    return purge(state, command);
  if (command.type === 'SetScriptSource') return setSource(state, command);
  if (state.status !== 'present') return refuse('not_found', 'Script not found.');
  const stale = 'expectedVersion' in command ? staleProblem(state, command) : undefined;
  if (stale !== undefined) return stale;
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
      return accept<ScriptEvent>(
        ...withdrawals(state, command),
        fact('ScriptDeleted', command.scriptId),
      );
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
    return accept<ScriptEvent>(...withdrawals(state, { scriptId }), fact('ScriptPurged', scriptId));
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

function staleProblem(
  { version }: KnownScript,
  { expectedVersion }: Pick<ChangeScript, 'expectedVersion'>,
): Decision<never> | undefined {
  if (expectedVersion === undefined || expectedVersion === version) return undefined;
  return refuse(
    'version_mismatch',
    `The script has changed and is now at version ${version}. Reload it and try again.`,
  );
}

/** Returns the parts of a command that refer to groups and pools. These groups and pools must exist. */
function changesIn(command: ScriptCommand): readonly Pick<ChangeScript, 'groupId' | 'settings'>[] {
  switch (command.type) {
    case 'CreateScript':
    case 'ChangeScript':
      return [command];
    case 'EditScript':
    case 'ApproveChange':
      return command.edits.filter((edit) => edit.type === 'ChangeScript');
    default:
      return [];
  }
}

function groupsOf(command: ScriptCommand): readonly GroupId[] {
  return changesIn(command).flatMap(({ groupId }) => groupId ?? []);
}

function poolsOf(command: ScriptCommand): readonly string[] {
  return changesIn(command).flatMap(({ settings }) => settings?.pools ?? []);
}

async function factsOf(command: ScriptCommand, reads: DecisionReads): Promise<ScriptDecisionFacts> {
  const groups = await Promise.all(groupsOf(command).map((id) => reads.groupExists(id)));
  const groupExists = !groups.includes(false);
  const missingPool = await missingPoolOf(command, reads);
  if (command.type !== 'ApproveChange') return { groupExists, missingPool };
  const { scriptId, approver } = command;
  const script = await reads.script(scriptId);
  const otherApprover =
    script === undefined || (await reads.otherApprover(approver.userId, script.groupId, 'save'));
  return { groupExists, missingPool, otherApprover };
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
    EditScript: true,
    ApproveChange: true,
    RejectChange: true,
    RebaseChange: true,
    ExpireChange: true,
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
    ScriptChangeRequested: true,
    ScriptChangeRevised: true,
    ScriptChangeApproved: true,
    ScriptChangeRejected: true,
    ScriptChangeExpired: true,
    ScriptChangeWithdrawn: true,
  },
  initial: initialScript,
  evolve: evolveScript,
  evolveAll: evolveScriptAll,
  stateVersion: 12,
  decide: decideScript,
  streamOf: (command) => `script-${command.scriptId}`,
  guards: (command) => [
    ...groupsOf(command).map((id) => `group-${id}` as const),
    ...poolsOf(command).map(poolLock),
  ],
  readFacts: factsOf,
};
