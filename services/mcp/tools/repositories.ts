/** Tools for Git repositories. */
import Type from 'typebox';
import { part } from '#services/shared/api-client.ts';
import { picked, tool, type Tool } from '../tool.ts';
import { listOf, NextCursor } from './shapes.ts';

const MaybeText = Type.Union([Type.String(), Type.Null()]);
const RepositoryId = Type.String({ description: 'From list_repositories.' });

const Repository = Type.Object({
  id: Type.String(),
  name: Type.String(),
  url: Type.String(),
  branch: Type.String(),
  folder: Type.String(),
  mode: Type.String({
    description: '`read`, or `write_back`: script edits become commits.',
  }),
  write_branch: MaybeText,
  last_commit: Type.Unknown({ description: 'The commit that was applied last, with its counts.' }),
  drift: Type.Unknown({
    description: 'Scripts that differ from the branch, with conflicts. Only in write_back mode.',
  }),
  error: Type.Unknown({ description: 'Why the last sync failed; null if it succeeded.' }),
});

const Sync = Type.Object({
  commit: Type.Unknown({ description: 'The newest commit on the branch.' }),
  dry_run: Type.Boolean(),
  counts: Type.Unknown({ description: 'Resources by action.' }),
  items: Type.Unknown({
    description: 'The resources with their action, changed fields, and notes such as conflicts.',
  }),
});

const listRepositories = tool({
  name: 'list_repositories',
  title: 'List Git repositories',
  description:
    'Lists the Git repositories that provide scripts and configuration, with the last applied commit, the error of the ' +
    'last sync, and scripts that differ from the branch.',
  effect: 'reads',
  input: Type.Object({}),
  output: Type.Object({ items: Type.Array(Repository), next_cursor: NextCursor }),
  handle: (_given, use) => listOf(Repository, '/repositories', undefined, use),
});

const syncRepository = tool({
  name: 'sync_repository',
  title: 'Sync a Git repository',
  description:
    'Applies the newest commit of a repository: all changes or none. With dry_run, changes nothing and lists the planned ' +
    'changes. Use dry_run first: a sync can delete scripts and revert changes that were made on the platform.',
  effect: 'replaces',
  input: Type.Object({
    repository_id: RepositoryId,
    dry_run: Type.Boolean(),
    discard: Type.Optional(
      Type.Boolean({
        description:
          'Reverts script changes that were made on the platform and are not in the branch.',
      }),
    ),
  }),
  output: Sync,
  handle: async ({ repository_id, dry_run, discard = false }, { api, signal }) => {
    const query = { dry_run, discard };
    const path = `/repositories/${part(repository_id)}/sync`;
    return picked(Sync, (await api.call<object>('POST', path, { query, signal })).body);
  },
});

export const repositoryTools: readonly Tool[] = [listRepositories, syncRepository];
