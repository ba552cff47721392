/** The wire format of Git repositories. */
import { maxRepositoryUrl, repositoryModes } from '#domain/repository/repository.ts';
import Type from 'typebox';
import { ConfigurationImport } from '../configuration/schema.ts';
import { Exact, examples, Nullable, OneLine, Time, Uuid } from '../http/schema.ts';

const strict = { additionalProperties: false } as const;
const secret = { minLength: 1, maxLength: 20_000 } as const;

const settings = {
  name: OneLine(100),
  url: Type.String({
    minLength: 1,
    maxLength: maxRepositoryUrl,
    description: '`https://host/path.git`, `ssh://git@host/path.git` or `git@host:path.git`.',
  }),
  branch: Type.String({ minLength: 1, maxLength: 200 }),
  folder: Type.String({
    maxLength: 500,
    description: 'The folder with `configuration.json` and `scripts/`. Empty: the root.',
  }),
  poll_seconds: Nullable(
    Type.Integer({
      minimum: 10,
      maximum: 86_400,
      description:
        'Interval at which the platform checks the Git server for new commits. Null: no polling; ' +
        'webhook calls from the Git server announce new commits.',
    }),
  ),
  mode: Type.Enum(repositoryModes, {
    description:
      '`read`: scripts can be changed only in the repository, not on the platform. `write_back`: scripts can also be ' +
      'edited on the platform, and each change becomes a commit.',
  }),
  write_branch: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'The branch that receives changes from the platform. It is created if necessary. Null: the same branch that is ' +
        'read.',
    }),
  ),
};

export const CredentialInput = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('token'),
      username: Type.Optional(Type.String({ pattern: '^[^:\\s]{1,200}$', default: 'git' })),
      token: Type.String({ ...secret, pattern: '^[\\x21-\\x7e]+$' }),
    },
    { title: 'TokenCredentialInput', ...strict },
  ),
  Type.Object(
    {
      kind: Type.Literal('ssh_key'),
      private_key: Type.String({ ...secret, description: 'A private key without a passphrase.' }),
      known_hosts: Type.String({
        ...secret,
        description: "The server's host keys, as `ssh-keyscan HOST` prints them.",
      }),
    },
    { title: 'SshCredentialInput', ...strict },
  ),
]);

const Credential = Type.Union([
  Type.Object(
    { kind: Type.Literal('token'), username: Type.String() },
    { title: 'TokenCredential', ...strict },
  ),
  Type.Object(
    { kind: Type.Literal('ssh_key'), known_hosts: Type.String() },
    { title: 'SshCredential', ...strict },
  ),
]);

const commit = {
  hash: Type.String(),
  author: Type.String({ description: 'Author as `Name <address>`.' }),
  committed_at: Time(),
  subject: Type.String({ description: 'The first line of the commit message.' }),
  url: Nullable(Type.String({ description: "URL of the commit's page." })),
};

const commitExample = {
  hash: 'c0ffee0000000000000000000000000000000000',
  author: 'Ada <ada@example.com>',
  committed_at: examples.time,
  subject: 'Add a report',
  url: 'https://git.example.com/team/jobs/commit/c0ffee0000000000000000000000000000000000',
};
const syncedExample = {
  ...commitExample,
  synced_at: examples.time,
  created: 1,
  changed: 0,
  deleted: 0,
};

const Commit = Exact(commit, { title: 'Commit' });

const SyncedCommit = Exact(
  {
    ...commit,
    synced_at: Time(),
    created: Type.Integer(),
    changed: Type.Integer(),
    deleted: Type.Integer(),
  },
  { title: 'SyncedCommit', examples: [syncedExample] },
);

export const CommitItems = Exact({ items: Type.Array(SyncedCommit) }, { title: 'CommitItems' });

export const repositoryInputExample = {
  name: 'Jobs',
  url: 'https://git.example.com/team/jobs.git',
  branch: 'main',
  credential: { kind: 'token', token: 's3cr3t' },
};

export const repositoryExample = {
  id: examples.repositoryId,
  name: 'Jobs',
  url: 'https://git.example.com/team/jobs.git',
  branch: 'main',
  folder: '',
  poll_seconds: 60,
  mode: 'read',
  write_branch: null,
  drift: [],
  credential: { kind: 'token', username: 'git' },
  last_commit: syncedExample,
  error: null,
  created_at: examples.time,
  updated_at: examples.time,
};

const Drift = Exact(
  {
    kind: Type.Enum(['script']),
    id: Uuid(),
    name: Type.String(),
    path: Type.String({ description: 'The folder in the repository.' }),
    since: Time('The first change that the branch does not contain.'),
    by: Type.String({ description: 'Who made the last change.' }),
    commit: Nullable(
      Exact({
        branch: Type.String(),
        hash: Type.String(),
        url: Nullable(Type.String({ description: 'The page of the commit.' })),
      }),
    ),
    conflict: Nullable(
      Type.String({ description: 'Why the changes cannot be pushed. Null if no reason is known.' }),
    ),
  },
  {
    title: 'RepositoryDrift',
    description:
      'A script with changes that were made on the platform and that the branch does not contain. `commit` is the last commit ' +
      'with such changes; null if they have not been pushed yet.',
  },
);

const shown = {
  id: Uuid(),
  ...settings,
  credential: Nullable(Credential),
  last_commit: Nullable(SyncedCommit),
  drift: Type.Array(Drift),
  error: Nullable(
    Exact(
      { detail: Type.String(), commit: Nullable(Commit), at: Time() },
      {
        title: 'SyncError',
        description: 'Why the last sync failed. The last applied commit stays in effect.',
      },
    ),
  ),
  created_at: Time(),
  updated_at: Time(),
};

export const Repository = Exact(shown, { title: 'Repository', examples: [repositoryExample] });

export const RepositoryItems = Exact(
  { items: Type.Array(Repository) },
  { title: 'RepositoryItems' },
);

const hook = {
  url: Type.String({ description: 'Enter this URL in the webhook settings of the Git server.' }),
  secret: Type.String({
    description:
      'Enter this secret in the webhook settings of the Git server. The secret is not returned again.',
  }),
};
const hookExample = {
  url: 'https://orchestrator.example.com/hooks/git/ght_n8sYw2',
  secret: 'example-secret-of-the-hook',
};

export const RepositoryHook = Exact(hook, { title: 'RepositoryHook', examples: [hookExample] });

export const AddedRepository = Exact(
  {
    ...shown,
    hook: Type.Optional(
      Exact(hook, { description: 'Returned once. A replayed response omits the hook.' }),
    ),
  },
  { title: 'AddedRepository', examples: [{ ...repositoryExample, hook: hookExample }] },
);

const credential = Type.Optional(Nullable(CredentialInput));
const { name, url, branch, folder, poll_seconds, mode, write_branch } = settings;

export const RepositoryInput = Exact(
  {
    name,
    url,
    branch: Type.Optional(branch),
    folder: Type.Optional(folder),
    credential,
    poll_seconds: Type.Optional(poll_seconds),
    mode: Type.Optional(mode),
    write_branch: Type.Optional(write_branch),
  },
  { title: 'RepositoryInput' },
);

export const RepositoryChange = Exact(
  {
    name: Type.Optional(name),
    url: Type.Optional(url),
    branch: Type.Optional(branch),
    folder: Type.Optional(folder),
    credential,
    poll_seconds: Type.Optional(poll_seconds),
    mode: Type.Optional(mode),
    write_branch: Type.Optional(write_branch),
  },
  { title: 'RepositoryChange' },
);

const { items, missing_secrets, shown_once, dry_run } = ConfigurationImport.properties;

export const RepositorySync = Exact(
  {
    commit: Commit,
    dry_run,
    counts: Exact({
      create: Type.Integer(),
      change: Type.Integer(),
      delete: Type.Integer(),
      unchanged: Type.Integer(),
    }),
    items,
    missing_secrets,
    shown_once,
  },
  {
    title: 'RepositorySync',
    examples: [
      {
        commit: commitExample,
        dry_run: true,
        counts: { create: 1, change: 0, delete: 0, unchanged: 4 },
        items: [],
        missing_secrets: [],
        shown_once: [],
      },
    ],
  },
);

export const HookAccepted = Exact(
  {
    status: Type.Enum(['accepted', 'ignored'], {
      description: '`ignored`: the push does not affect the synced branch.',
    }),
  },
  { title: 'HookAccepted', examples: [{ status: 'accepted' }] },
);
