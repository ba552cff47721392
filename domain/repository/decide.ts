import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { ChangeRepository, DeleteRepository, RepositoryCommand } from './commands.ts';
import type { RepositoryEvent, RepositoryFailureEnded } from './events.ts';
import {
  branchProblem,
  folderProblem,
  repositoryUrlProblem,
  type RepositorySettings,
} from './repository.ts';
import { evolveRepository, initialRepository, type RepositoryState } from './state.ts';

export interface RepositoryFacts {
  /** Whether the data keys of the command's secrets still exist. */
  readonly keysExist: boolean;
  /** Whether another repository has the same name, ignoring case. */
  readonly nameTaken: boolean;
}

type There = Extract<RepositoryState, { status: 'there' }>;

export function decideRepository(
  state: RepositoryState,
  command: RepositoryCommand,
  facts: RepositoryFacts,
): Decision<RepositoryEvent> {
  if (command.type === 'CreateRepository') {
    if (state.status !== 'absent')
      return refuse('already_exists', 'The repository already exists.');
    if (facts.nameTaken) return nameTaken;
    const { type: _, ...data } = command;
    return problemOf(command, '', facts) ?? accept({ type: 'RepositoryCreated', data });
  }
  if (command.type === 'DeleteRepository' && state.status === 'deleted') return accept();
  if (state.status !== 'there') return refuse('not_found', 'Repository not found.');
  const { repositoryId } = command;
  switch (command.type) {
    case 'ChangeRepository':
      return change(state, command, facts);
    case 'DeleteRepository':
      return accept<RepositoryEvent>(...failureEnd(state, repositoryId, 'deleted'), {
        type: 'RepositoryDeleted',
        data: { repositoryId },
      });
    case 'RecordSync': {
      const { type: _, ...data } = command;
      const isRepeated = state.failed === null && isSameJson(data, state.synced);
      if (isRepeated) return accept();
      return accept<RepositoryEvent>(
        { type: 'RepositorySynced', data },
        ...failureEnd(state, repositoryId, 'synced'),
      );
    }
    case 'RecordSyncFailure': {
      const { type: _, ...data } = command;
      if (isSameJson(data, state.failed)) return accept();
      const { problem } = data;
      const started = { repositoryId, name: state.settings.name, problem };
      return accept<RepositoryEvent>(
        { type: 'RepositorySyncFailed', data },
        ...(state.failed === null
          ? [{ type: 'RepositoryFailureStarted', data: started } as const]
          : []),
      );
    }
  }
}

function failureEnd(
  { failed, settings: { name } }: There,
  repositoryId: DeleteRepository['repositoryId'],
  reason: RepositoryFailureEnded['data']['reason'],
): readonly RepositoryEvent[] {
  if (failed === null) return [];
  return [{ type: 'RepositoryFailureEnded', data: { repositoryId, name, reason } }];
}

const nameTaken = refuse('already_exists', 'Another repository already has this name.');
const changedMeanwhile = refuse(
  'version_mismatch',
  'The repository has changed since you read it. Reload it and try again.',
);

function change(
  state: There,
  command: ChangeRepository,
  facts: RepositoryFacts,
): Decision<RepositoryEvent> {
  const { type: _, repositoryId, expectedVersion, ...wanted } = command;
  const { settings, credential, hook } = state;
  const present: Record<string, unknown> = { ...settings, credential, hook };
  const changes = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && !isSameJson(value, present[name]),
  );
  if (changes.length === 0) return accept();
  if (expectedVersion !== undefined && expectedVersion !== state.version) return changedMeanwhile;
  if (changes.some(([name]) => name === 'name') && facts.nameTaken) return nameTaken;
  const data = { repositoryId, ...Object.fromEntries(changes) };
  return problemOf(command, settings.name, facts) ?? accept({ type: 'RepositoryChanged', data });
}

function problemOf(
  { name, url, branch, folder, writeBranch }: Partial<RepositorySettings>,
  presentName: string,
  { keysExist }: RepositoryFacts,
): Decision<never> | undefined {
  const unusable = newNameProblem('name', name, presentName);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  const problems = [
    ['URL', url === undefined ? undefined : repositoryUrlProblem(url)],
    ['branch', branch === undefined ? undefined : branchProblem(branch)],
    ['write branch', writeBranch ? branchProblem(writeBranch) : undefined],
    ['folder', folder === undefined ? undefined : folderProblem(folder)],
  ] as const;
  for (const [field, problem] of problems) {
    if (problem !== undefined) return refuse('validation_failed', `The ${field} ${problem}.`);
  }
  return keysExist ? undefined : changedMeanwhile;
}

/** A lock that commands hold while they assign a repository name. Its stream contains no events. */
const names = 'repository-names';

const nameIn = (command: RepositoryCommand) =>
  command.type === 'CreateRepository' || command.type === 'ChangeRepository'
    ? command.name
    : undefined;

const nameGuards = (command: RepositoryCommand) =>
  nameIn(command) === undefined ? [] : ([names] as const);

export const repositoryAggregate: Aggregate<
  RepositoryState,
  RepositoryCommand,
  RepositoryEvent,
  RepositoryFacts
> = {
  streamType: 'repository',
  commands: {
    CreateRepository: true,
    ChangeRepository: true,
    DeleteRepository: true,
    RecordSync: true,
    RecordSyncFailure: true,
  },
  events: {
    RepositoryCreated: true,
    RepositoryChanged: true,
    RepositoryDeleted: true,
    RepositorySynced: true,
    RepositorySyncFailed: true,
    RepositoryFailureStarted: true,
    RepositoryFailureEnded: true,
  },
  initial: initialRepository,
  evolve: evolveRepository,
  stateVersion: 2,
  decide: decideRepository,
  streamOf: (command) => `repository-${command.repositoryId}`,
  // The command that destroys the data key takes the same guard.
  guards: (command) => [`secret-${command.repositoryId}`, ...nameGuards(command)],
  exclusiveGuards: nameGuards,
  readFacts: async (command, reads) => {
    const sealed =
      command.type === 'CreateRepository' || command.type === 'ChangeRepository'
        ? [command.credential?.sealed, command.hook?.sealed]
        : [];
    const exist = await Promise.all(
      sealed.map(async (one) => one === undefined || (await reads.dataKeyExists(one.keyId))),
    );
    const name = nameIn(command);
    return {
      keysExist: exist.every(Boolean),
      nameTaken:
        name !== undefined && (await reads.nameTaken('repository', name, command.repositoryId)),
    };
  },
};
