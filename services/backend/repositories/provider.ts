/** Adapts the commands of an import for a repository, and records which resources the repository provides. */
import type { Command } from '#domain/aggregates.ts';
import { mustParse, parseRepositoryId, parseScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { RecordSync } from '#domain/repository/commands.ts';
import type { CommitFacts, ProvidedResource, ScriptSource } from '#domain/repository/repository.ts';
import { isEdited, type SourcedScript } from '#projections/repositories/queries.ts';
import type { RepositoriesTable } from '#projections/repositories/table.ts';
import type { Provider } from '../configuration/import.ts';
import type { Step } from '../configuration/plan.ts';

export interface Providing {
  readonly row: RepositoriesTable;
  readonly commit: CommitFacts;
  /** The folder of each script, by the script's index in the document. */
  readonly paths: readonly (string | undefined)[];
  /** The scripts that come from repositories, by ID, as read before the plan. */
  readonly scripts: ReadonlyMap<string, SourcedScript>;
  /** The scripts with local changes that the commit does not contain. */
  readonly keeps: ReadonlySet<string>;
  /** Whether the branch no longer contains the previously applied commit. */
  readonly isRewritten: boolean;
  /** The names of the scripts with a pending change that an earlier commit requested, by script ID. */
  readonly requested: ReadonlyMap<string, string>;
  /** The ID of the command that records the sync. */
  readonly context: CommandContext;
}

const isRestoration = ({ kind, changes }: Step) =>
  kind === 'script' && changes.some(({ field, from }) => field === 'deleted' && from === true);

const none = () => Promise.resolve([]);

const keyOf = ({ kind, id }: ProvidedResource) => `${kind} ${id}`;

export function providerOf(providing: Providing): Provider {
  const { row, commit, paths, scripts, keeps, isRewritten, requested, context } = providing;
  const repositoryId = mustParse(parseRepositoryId, row.repository_id);
  const owned = new Set(row.provides.map(keyOf));
  const { folder, mode } = row.settings;

  /** The deleted scripts that the commit contains again. If such a script is protected, its restoration awaits
   *  approval. */
  const restored = new Set<unknown>();

  const select = (steps: readonly Step[]) => {
    for (const step of steps) if (isRestoration(step)) restored.add(step.id);
    const conflicts = new Set(
      steps.flatMap(({ kind, id, action }) =>
        kind === 'script' && id !== null && action === 'delete' && keeps.has(id) ? [id] : [],
      ),
    );
    return [...steps, ...withdrawnRestorations(steps)].map((step): Step => {
      if (step.kind === 'schedule' && restored.has(step.scriptId))
        return { ...step, note: 'Takes effect when the script is restored.' };
      if (step.action === 'delete' && conflicts.has(step.scriptId ?? ''))
        return { ...step, action: 'unchanged', note: 'Kept with its script.', commands: none };
      const isKept = step.kind === 'script' && keeps.has(step.id ?? '');
      if (!isKept && isWithdrawn(step))
        return { ...step, note: 'Withdraws the change that an earlier commit requested.' };
      if (!isKept || (step.action !== 'change' && step.action !== 'delete')) return step;
      const note =
        step.action === 'delete'
          ? 'Conflict: the commit deletes the folder of a script with unpushed changes. The script is kept.'
          : 'Kept: the script has unpushed changes.';
      return { ...step, action: 'unchanged', note, commands: none };
    });
  };

  const isWithdrawn = ({ kind, id, action }: Step) =>
    kind === 'script' && action === 'unchanged' && requested.has(id ?? '');

  /** Steps for the deleted scripts whose restoration an earlier commit requested. The plan contains no steps for
   *  them. */
  const withdrawnRestorations = (steps: readonly Step[]): readonly Step[] => {
    const planned = new Set(steps.map(({ id }) => id));
    return [...requested].flatMap(([id, name]): readonly Step[] =>
      planned.has(id) || !owned.has(keyOf({ kind: 'script', id }))
        ? []
        : [
            {
              kind: 'script',
              id,
              name,
              scriptId: null,
              action: 'delete',
              changes: [],
              note: 'Withdraws the request to restore the script.',
              missing: [],
              pointer: '/scripts',
              commands: none,
            },
          ],
    );
  };

  const isFolder = (step: Step) => pathOf(step) !== undefined;
  const pathOf = (step: Step) => paths[Number(/\d+$/.exec(step.pointer)?.[0])];

  const sourceOf = (step: Step): ScriptSource => {
    const path = [folder, pathOf(step) ?? 'configuration.json'].filter((part) => part !== '');
    const { hash, url } = commit;
    return { repositoryId, path: path.join('/'), commit: hash, url };
  };

  /** Adds the repository to edits of scripts, because a provided script accepts edits only from its repository. Also
   *  records the script's commit. */
  const adapt = (step: Step, commands: readonly Command[]): readonly Command[] => {
    if (step.kind !== 'script') return commands.map(ofRestored);
    if (step.id === null || step.action === 'absent') return commands;
    const scriptId = mustParse(parseScriptId, step.id);
    const set = { type: 'SetScriptSource', scriptId, repositoryId } as const;
    if (step.action === 'delete') return [{ ...set, source: null }, ...commands];
    if (keeps.has(scriptId)) return [];
    const source = sourceOf(step);
    const script = scripts.get(scriptId);
    const present = script?.source;
    const startsWriteBack = mode === 'write_back' && isFolder(step);
    const isKnown =
      present?.repositoryId === repositoryId &&
      present.path === source.path &&
      (present.writeBack !== undefined) === startsWriteBack;
    if (commands.length > 0 || !isKnown)
      return [...fromRepository(commands, script), { ...set, source, startsWriteBack }];
    // The branch contains the local changes.
    if (script !== undefined && isEdited(script)) {
      const writeBack = { version: script.version, pushed: null, conflict: null };
      return [{ ...set, source: { ...source, writeBack } }];
    }
    // The branch does not contain the source's commit.
    if (isRewritten) return [{ ...set, source: { ...present, ...source } }];
    // Recording an unchanged source withdraws the change that an earlier commit requested.
    return requested.has(scriptId) ? [{ ...set, source: present }] : [];
  };

  /** Permits commands for schedules, webhooks and chains of a script that stays deleted until its restoration is
   *  approved. */
  const ofRestored = (command: Command): Command => {
    switch (command.type) {
      case 'CreateSchedule':
      case 'ChangeSchedule':
      case 'CreateWebhook':
        return restored.has(command.scriptId) ? { ...command, mayBeDeleted: true } : command;
      case 'CreateChain':
        return restored.has(command.sourceScriptId) || restored.has(command.targetScriptId)
          ? { ...command, mayBeDeleted: true }
          : command;
      case 'ChangeChain':
        return restored.has(command.changes.targetScriptId)
          ? { ...command, mayBeDeleted: true }
          : command;
      default:
        return command;
    }
  };

  /** Marks edits as coming from the repository. The edits are refused if the script was edited locally after the
   *  comparison, so that no local edit is reverted. */
  const fromRepository = (commands: readonly Command[], script: SourcedScript | undefined) => {
    let isFirst = script?.source.writeBack !== undefined;
    return commands.map((command): Command => {
      if (
        command.type !== 'ChangeScript' &&
        command.type !== 'SaveFile' &&
        command.type !== 'DeleteFile'
      )
        return command;
      const expected = isFirst && { expectedVersion: script?.version };
      isFirst = false;
      return { ...command, repositoryId, ...(expected as { expectedVersion?: number }) };
    });
  };

  const conclude = (steps: readonly Step[]) => {
    const count = (action: Step['action']) => steps.filter((one) => one.action === action).length;
    const named = steps.flatMap(({ kind, id, action }) =>
      id === null ? [] : [{ kind, id, isGone: action === 'delete' }],
    );
    const resources = (isGone: boolean) =>
      named.filter((one) => one.isGone === isGone).map(({ kind, id }) => ({ kind, id }));
    const present = new Set(resources(false).map(keyOf));
    const command: RecordSync = {
      type: 'RecordSync',
      repositoryId,
      commit,
      created: count('create'),
      changed: count('change'),
      deleted: count('delete'),
      added: resources(false).filter((one) => !owned.has(keyOf(one))),
      // Includes provided resources that no longer exist.
      removed: row.provides.filter((one) => !present.has(keyOf(one))),
    };
    return { command, context };
  };
  return { owns: (kind, id) => owned.has(keyOf({ kind, id })), select, adapt, conclude };
}
