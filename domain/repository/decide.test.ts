import { given } from '#domain/testing/given.ts';
import { repositoryId } from '#domain/testing/ids.ts';
import { commitFacts, createRepository, sealed } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import { repositoryAggregate } from './decide.ts';
import type { RepositoryEvent } from './events.ts';
import {
  addressOf,
  branchProblem,
  commitPage,
  folderProblem,
  repositoryUrlProblem,
} from './repository.ts';

const usable = { keysExist: true, nameTaken: false };
const { type: _, ...data } = createRepository();
const created: RepositoryEvent = { type: 'RepositoryCreated', data };
const ids = { repositoryId: repositoryId() };
const counts = { created: 1, changed: 0, deleted: 0, added: [], removed: [] };
const synced = { ...ids, commit: commitFacts(), ...counts };
const failed = { ...ids, commit: null, problem: 'The host is not reachable.' };

describe('a new repository', () => {
  test('is created only once', () => {
    given(repositoryAggregate).when(createRepository(), usable).thenRecords(created);
    given(repositoryAggregate, created)
      .when(createRepository(), usable)
      .thenRefuses('already_exists');
  });

  test.each([
    { url: 'file:///etc' },
    { branch: '--upload-pack=x' },
    { writeBranch: '--force' },
    { writeBranch: 'HEAD' },
    { branch: 'HEAD' },
    { branch: 'refs/heads/main' },
    { writeBranch: 'refs/heads/main' },
    { writeBranch: 'changes.lock' },
    { folder: '../x' },
  ])('refuses the invalid settings %j', (changes) => {
    given(repositoryAggregate)
      .when(createRepository(changes), usable)
      .thenRefuses('validation_failed');
  });

  test('refuses the name of another repository', () => {
    const taken = { ...usable, nameTaken: true };
    given(repositoryAggregate).when(createRepository(), taken).thenRefuses('already_exists');
    const rename = { type: 'ChangeRepository', ...ids, name: 'Other' } as const;
    given(repositoryAggregate, created).when(rename, taken).thenRefuses('already_exists');
    given(repositoryAggregate, created)
      .when({ ...rename, name: data.name }, taken)
      .thenRecordsNothing();
  });

  test('refuses a credential whose data key was destroyed', () => {
    given(repositoryAggregate)
      .when(createRepository(), { ...usable, keysExist: false })
      .thenRefuses('version_mismatch');
  });
});

describe('a repository', () => {
  test('records only changed settings', () => {
    given(repositoryAggregate, created)
      .when({ type: 'ChangeRepository', ...ids, name: 'Jobs', branch: 'release' }, usable)
      .thenRecords({ type: 'RepositoryChanged', data: { ...ids, branch: 'release' } });
    given(repositoryAggregate, created)
      .when(
        {
          type: 'ChangeRepository',
          ...ids,
          credential: { kind: 'token', username: 'git', sealed },
          expectedVersion: 7,
        },
        usable,
      )
      .thenRefuses('version_mismatch');
  });

  test('records the same failure only once until a sync succeeds', () => {
    const fail = { type: 'RecordSyncFailure', ...failed } as const;
    const failure: RepositoryEvent = { type: 'RepositorySyncFailed', data: failed };
    const success: RepositoryEvent = { type: 'RepositorySynced', data: synced };
    const about = { ...ids, name: 'Jobs' };
    const started: RepositoryEvent = {
      type: 'RepositoryFailureStarted',
      data: { ...about, problem: failed.problem },
    };
    given(repositoryAggregate, created).when(fail, usable).thenRecords(failure, started);
    given(repositoryAggregate, created, failure, started).when(fail, usable).thenRecordsNothing();
    given(repositoryAggregate, created, failure, success)
      .when(fail, usable)
      .thenRecords(failure, started);
  });

  test('records the start and the end of a series of failures only once', () => {
    const failure: RepositoryEvent = { type: 'RepositorySyncFailed', data: failed };
    const ended = (reason: 'synced' | 'deleted'): RepositoryEvent => ({
      type: 'RepositoryFailureEnded',
      data: { ...ids, name: 'Jobs', reason },
    });
    const other = { ...failed, problem: 'The token is invalid.' };
    given(repositoryAggregate, created, failure)
      .when({ type: 'RecordSyncFailure', ...other }, usable)
      .thenRecords({ type: 'RepositorySyncFailed', data: other });
    given(repositoryAggregate, created, failure)
      .when({ type: 'RecordSync', ...synced }, usable)
      .thenRecords({ type: 'RepositorySynced', data: synced }, ended('synced'));
    given(repositoryAggregate, created, failure)
      .when({ type: 'DeleteRepository', ...ids }, usable)
      .thenRecords(ended('deleted'), { type: 'RepositoryDeleted', data: ids });
  });

  test('records each sync only once', () => {
    const sync = { type: 'RecordSync', ...synced } as const;
    const success: RepositoryEvent = { type: 'RepositorySynced', data: synced };
    given(repositoryAggregate, created).when(sync, usable).thenRecords(success);
    given(repositoryAggregate, created, success).when(sync, usable).thenRecordsNothing();
  });

  test('records only one deletion, and refuses later syncs', () => {
    const remove = { type: 'DeleteRepository', ...ids } as const;
    const deleted: RepositoryEvent = { type: 'RepositoryDeleted', data: ids };
    given(repositoryAggregate, created).when(remove, usable).thenRecords(deleted);
    given(repositoryAggregate, created, deleted).when(remove, usable).thenRecordsNothing();
    given(repositoryAggregate, created, deleted)
      .when({ type: 'RecordSync', ...synced }, usable)
      .thenRefuses('not_found');
  });
});

describe('the URL of a repository', () => {
  test.each([
    [
      'https://git.example.com/team/jobs.git',
      { scheme: 'https', host: 'git.example.com', port: undefined },
    ],
    ['http://127.0.0.1:8080/jobs.git', { scheme: 'http', host: '127.0.0.1', port: 8080 }],
    [
      'ssh://git@git.example.com:2222/jobs.git',
      { scheme: 'ssh', host: 'git.example.com', port: 2222 },
    ],
    [
      'git@git.example.com:team/jobs.git',
      { scheme: 'ssh', host: 'git.example.com', port: undefined },
    ],
  ])('is accepted if valid: %s', (url, address) => {
    expect(repositoryUrlProblem(url)).toBeUndefined();
    expect(addressOf(url)).toEqual(address);
  });

  test.each([
    'file:///srv/jobs.git',
    '/srv/jobs.git',
    'ext::sh -c id',
    'git://git.example.com/jobs.git',
    'http://git.example.com/jobs.git',
    'https://token@git.example.com/jobs.git',
    'ssh://git:pass@git.example.com/jobs.git',
    'ssh://-oProxyCommand=id/jobs.git',
    '-oProxyCommand=id@host:jobs.git',
    'git@-oProxyCommand=id:jobs.git',
    'git@git.example.com:--upload-pack=id',
    'https://git.example.com/a b.git',
  ])('is refused if invalid or unsafe: %s', (url) => {
    expect(repositoryUrlProblem(url)).toBeTypeOf('string');
    expect(addressOf(url)).toBeUndefined();
  });

  test('determines the URL of a commit page', () => {
    const page = 'https://git.example.com/team/jobs/commit/abc';
    expect(commitPage('https://git.example.com/team/jobs.git', 'abc')).toBe(page);
    expect(commitPage('git@git.example.com:team/jobs.git', 'abc')).toBe(page);
    expect(commitPage('ssh://git@git.example.com:2222/team/jobs.git', 'abc')).toBe(page);
  });
});

test.each(['', '-x', 'a..b', 'a b', 'a.lock', '/a', 'a/', 'a:b', '@'])(
  'a repository refuses the branch "%s"',
  (name) => {
    expect(branchProblem(name)).toBeTypeOf('string');
  },
);

test.each(['main', 'release/2026.1', 'feature-ä'])(
  'a repository accepts the branch "%s"',
  (name) => {
    expect(branchProblem(name)).toBeUndefined();
  },
);

test.each(['/etc', 'a/../b', 'a//b', '.', 'a/'])(
  'a repository refuses the folder "%s"',
  (folder) => {
    expect(folderProblem(folder)).toBeTypeOf('string');
  },
);
