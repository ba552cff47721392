/** Turns the commands of an import into commands of a repository, and records which resources it provides. */
import type { Command } from '#domain/aggregates.ts';
import { mustParse, parseRepositoryId, parseScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { RecordSync } from '#domain/repository/commands.ts';
import type { CommitFacts, ProvidedResource, ScriptSource } from '#domain/repository/repository.ts';
import type { RepositoriesTable } from '#projections/repositories/table.ts';
import type { Provider } from '../configuration/import.ts';
import type { Step } from '../configuration/plan.ts';

export interface Providing {
  readonly row: RepositoriesTable;
  readonly commit: CommitFacts;
  /** The folders of the scripts, by their index in the document. */
  readonly paths: readonly (string | undefined)[];
  /** The current sources of scripts, by script. */
  readonly sources: ReadonlyMap<string, ScriptSource>;
  /** The ID of the command that records the sync. */
  readonly context: CommandContext;
}

const keyOf = ({ kind, id }: ProvidedResource) => `${kind} ${id}`;

export function providerOf({ row, commit, paths, sources, context }: Providing): Provider {
  const repositoryId = mustParse(parseRepositoryId, row.repository_id);
  const owned = new Set(row.provides.map(keyOf));
  const { folder } = row.settings;

  const sourceOf = (step: Step): ScriptSource => {
    const index = Number(/\d+$/.exec(step.pointer)?.[0]);
    const path = [folder, paths[index] ?? 'configuration.json'].filter((part) => part !== '');
    const { hash, url } = commit;
    return { repositoryId, path: path.join('/'), commit: hash, url };
  };

  /** Edits of scripts are accepted from their repository only, and name the commit. */
  const adapt = (step: Step, commands: readonly Command[]): readonly Command[] => {
    if (step.kind !== 'script' || step.id === null || step.action === 'absent') return commands;
    const scriptId = mustParse(parseScriptId, step.id);
    const set = { type: 'SetScriptSource', scriptId, repositoryId } as const;
    if (step.action === 'delete') return [{ ...set, source: null }, ...commands];
    const source = sourceOf(step);
    const present = sources.get(scriptId);
    const isKnown = present?.repositoryId === repositoryId && present.path === source.path;
    if (commands.length === 0 && isKnown) return [];
    return [...commands.map((one) => fromRepository(one)), { ...set, source }];
  };

  const fromRepository = (command: Command): Command =>
    command.type === 'ChangeScript' || command.type === 'SaveFile' || command.type === 'DeleteFile'
      ? { ...command, repositoryId }
      : command;

  const conclude = (steps: readonly Step[]) => {
    const count = (action: Step['action']) => steps.filter((one) => one.action === action).length;
    const named = steps.flatMap(({ kind, id, action }) =>
      id === null ? [] : [{ kind, id, isGone: action === 'delete' }],
    );
    const resources = (isGone: boolean) =>
      named.filter((one) => one.isGone === isGone).map(({ kind, id }) => ({ kind, id }));
    const kept = new Set(resources(false).map(keyOf));
    const command: RecordSync = {
      type: 'RecordSync',
      repositoryId,
      commit,
      created: count('create'),
      changed: count('change'),
      deleted: count('delete'),
      added: resources(false).filter((one) => !owned.has(keyOf(one))),
      // Includes resources that no longer exist.
      removed: row.provides.filter((one) => !kept.has(keyOf(one))),
    };
    return { command, context };
  };
  return { owns: (kind, id) => owned.has(keyOf({ kind, id })), adapt, conclude };
}
