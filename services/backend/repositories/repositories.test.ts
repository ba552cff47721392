// Long because the tests share one installation and one Git server.
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  startGitServer,
  type TestGitServer,
  type TestRepository,
} from '#infra/git/testing/server.ts';
import { gitProgram } from '#infra/git/testing/programs.ts';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { syncDueRepositories } from './poll.ts';

let platform: TestBackend;
let server: TestGitServer;
beforeAll(async () => {
  [platform, server] = await Promise.all([startTestBackend(), startGitServer()]);
});
afterAll(() => Promise.all([platform.close(), server.close()]));

const path = '/api/v1/repositories';
let made = 0;

interface Added {
  readonly id: string;
  readonly repository: TestRepository;
  readonly hook: { readonly url: string; readonly secret: string };
}

/** Adds a repository with one commit, which is not synced yet. */
async function added(files: Record<string, string>, body: object = {}): Promise<Added> {
  const repository = await server.repository(`repository-${(made += 1)}`);
  await repository.commit(files, 'First');
  const wanted = { name: `Jobs ${made}`, url: repository.url, poll_seconds: null, ...body };
  const answer = await platform.admin.post(path, wanted);
  expect(answer.status, answer.text).toBe(201);
  return { id: answer.json.id, hook: answer.json.hook, repository };
}

async function synced({ id }: Added, query = '') {
  const answer = await platform.admin.post(`${path}/${id}/sync${query}`, {});
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

async function refused({ id }: Added): Promise<string> {
  const answer = await platform.admin.post(`${path}/${id}/sync`, {});
  expect(answer.status, answer.text).toBe(422);
  expect(answer.json.code).toBe('sync_failed');
  return answer.json.detail;
}

async function shown({ id }: Added) {
  return (await platform.admin.get(`${path}/${id}`)).json;
}

interface ShownScript {
  readonly id: string;
  readonly name: string;
  readonly updated_by: string;
  readonly limits: { readonly wall_clock_seconds: number };
  readonly source: {
    readonly repository_id: string;
    readonly path: string;
    readonly commit: string;
    readonly url: string;
  } | null;
}

/** Returns the scripts that the repository provides, by name. */
async function scriptsOf({ id }: Added): Promise<Map<string, ShownScript>> {
  const { json } = await platform.admin.get('/api/v1/scripts?limit=200');
  const own = json.items.filter((one: ShownScript) => one.source?.repository_id === id);
  return new Map(own.map((one: ShownScript) => [one.name, one]));
}

async function scriptOf(one: Added, name: string): Promise<ShownScript> {
  const script = (await scriptsOf(one)).get(name);
  if (script === undefined) throw new Error(`no script ${name}`);
  return script;
}

async function textOf(scriptId: string, file = 'main.py'): Promise<string> {
  return (await platform.admin.get(`/api/v1/scripts/${scriptId}/files/${file}`)).text;
}

const poll = () => syncDueRepositories(platform.services, new AbortController().signal);

test('a repository is added once for the same idempotency key, and its secret is shown once', async () => {
  const body = { name: 'Added once', url: 'http://127.0.0.1:9/jobs.git' };
  const options = { headers: { 'Idempotency-Key': 'one-repository' } };
  const first = await platform.admin.post(path, body, options);
  const { hook, ...others } = first.json;
  expect(hook.secret).toBeDefined();
  const again = await platform.admin.post(path, body, options);
  expect([again.status, again.json]).toEqual([201, others]);
  // Simulates a crash between the command and its response.
  await platform.pool.query('DELETE FROM idempotency_answers');
  const { status, json, headers } = await platform.admin.post(path, body, options);
  expect([status, json.id, json.hook]).toEqual([201, others.id, undefined]);
  expect(headers.get('location')).toBe(`${path}/${others.id}`);
});

describeWith(gitProgram, 'a repository', () => {
  test('provides a script from a folder, with its commit in the history and audit', async () => {
    const one = await added({ 'scripts/hello/main.py': 'print("hello")', 'README.md': '# Jobs' });
    const { commit, counts } = await synced(one);
    expect(counts).toEqual({ create: 1, change: 0, delete: 0, unchanged: 0 });
    const script = await scriptOf(one, 'hello');
    expect(script.source).toEqual({
      repository_id: one.id,
      path: 'scripts/hello',
      commit: commit.hash,
      url: expect.stringContaining(`/commit/${commit.hash}`),
      editable: false,
    });
    expect(script.updated_by).toContain('Ada <ada@example.com> (commit ');
    const history = await platform.admin.get(`/api/v1/scripts/${script.id}/history`);
    expect(history.text).toContain(commit.hash);
    const run = await platform.admin.post(`/api/v1/scripts/${script.id}/run`, {});
    const { json } = await platform.admin.get(`/api/v1/runs/${run.json.run_id}`);
    expect(json).toMatchObject({ commit: commit.hash, commit_url: script.source?.url });
  });

  test('requests approvals for changes to a protected script, including its protection', async () => {
    const one = await added({ 'scripts/guarded/main.py': 'print(1)' });
    await synced(one);
    const { id } = await scriptOf(one, 'guarded');
    const protectedSettings = { 'scripts/guarded/script.json': '{"protected": {"save": true}}' };
    await one.repository.commit(protectedSettings, 'Protect');
    await synced(one);
    const before = await scriptOf(one, 'guarded');
    const off = { 'scripts/guarded/script.json': '{"protected": {"save": false}}' };
    await one.repository.commit({ ...off, 'scripts/guarded/main.py': 'print(2)' }, 'Change');
    const { commit } = await synced(one);
    expect(await textOf(id)).toBe('print(1)');
    expect((await scriptOf(one, 'guarded')).source).toEqual(before.source);
    await one.repository.commit({ 'scripts/guarded/main.py': 'print(3)' }, 'Again');
    const { commit: last } = await synced(one);
    expect(last.hash).not.toBe(commit.hash);
    const list = await platform.admin.get(`/api/v1/approvals?script_id=${id}`);
    expect(list.json.items).toMatchObject([{ kind: 'save', status: 'pending', can_decide: true }]);
    const approval = `/api/v1/approvals/${list.json.items[0].id}`;
    const read = await platform.admin.get(approval);
    expect(read.json.requested_by).toContain(last.hash.slice(0, 7));
    await one.repository.commit({ 'scripts/unrelated/main.py': 'print(1)' }, 'Other script');
    await synced(one);
    expect((await platform.admin.get(approval)).json).toEqual(read.json);
    const approved = await platform.admin.post(`${approval}/approve`, {});
    expect(approved.status, approved.text).toBe(200);
    expect(await textOf(id)).toBe('print(3)');
    expect((await scriptOf(one, 'guarded')).source?.commit).toBe(last.hash);
  });

  test('must have a unique name', async () => {
    const one = await added({ 'scripts/a/main.py': '1' }, { name: 'Unique' });
    const other = await added({ 'scripts/a/main.py': '1' });
    const wanted = { name: 'unique', url: one.repository.url, poll_seconds: null };
    const answers = [
      await platform.admin.post(path, wanted),
      await platform.admin.patch(`${path}/${other.id}`, { name: 'UNIQUE' }),
    ];
    for (const { status, json } of answers) {
      expect([status, json.code]).toEqual([409, 'already_exists']);
      expect(json.detail).toBe('Another repository already has this name.');
    }
    expect((await platform.admin.patch(`${path}/${one.id}`, { name: 'UNIQUE' })).status).toBe(200);
    expect((await platform.admin.delete(`${path}/${one.id}`)).status).toBe(204);
    expect((await platform.admin.post(path, wanted)).status).toBe(201);
  });

  test("withdraws a commit's change request when the commit is reverted", async () => {
    const settings = JSON.stringify({ protected: { save: true } });
    const files = { 'scripts/back/main.py': '1', 'scripts/back/script.json': settings };
    const one = await added({ ...files, 'scripts/other/main.py': '1' });
    await synced(one);
    const { id, source } = await scriptOf(one, 'back');
    const statuses = async () => {
      const { json } = await platform.admin.get(`/api/v1/approvals?script_id=${id}`);
      return json.items.map(({ status }: { status: string }) => status);
    };
    await one.repository.commit({ 'scripts/back/main.py': '2' });
    await synced(one);
    expect(await statuses()).toEqual(['pending']);
    await one.repository.commit(files);
    const plan = await synced(one, '?dry_run=true');
    expect(plan.items).toContainEqual(
      expect.objectContaining({ name: 'back', note: expect.stringContaining('Withdraws') }),
    );
    await synced(one);
    expect(await statuses()).toEqual(['withdrawn']);
    expect((await scriptOf(one, 'back')).source).toEqual(source);
    const gone = { 'scripts/back/main.py': null, 'scripts/back/script.json': null };
    await one.repository.commit(gone);
    await synced(one);
    await one.repository.commit(files);
    await synced(one);
    expect(await statuses()).toEqual(['pending', 'withdrawn']);
    await one.repository.commit(gone);
    await synced(one);
    expect(await statuses()).toEqual(['withdrawn', 'withdrawn']);
    expect((await platform.admin.get(`/api/v1/scripts/${id}`)).status).toBe(404);
    expect((await synced(one)).counts).toMatchObject({ delete: 0 });
    await one.repository.commit(files);
    await synced(one);
    expect((await platform.admin.delete(`${path}/${one.id}`)).status).toBe(204);
    expect(await statuses()).toEqual(['withdrawn', 'withdrawn', 'withdrawn']);
  });

  test('restores a protected script with its schedule and chain after an approval, and changes other scripts immediately', async () => {
    const protectedSave = { protected: { save: true }, schedules: [{ cron: '0 6 * * *' }] };
    const chain = {
      id: '019bb111-0000-7000-8000-000000000002',
      source_script_id: 'scripts/restored',
      target_script_id: 'scripts/other',
    };
    const guarded = {
      'scripts/restored/main.py': 'print(1)',
      'scripts/restored/script.json': JSON.stringify(protectedSave),
      'configuration.json': JSON.stringify({ chains: [chain] }),
    };
    const one = await added({ ...guarded, 'scripts/other/main.py': '1' });
    await synced(one);
    const { id } = await scriptOf(one, 'restored');
    const schedules = async () =>
      (await platform.admin.get(`/api/v1/schedules?script_id=${id}`)).json.items;
    const gone = Object.fromEntries(Object.keys(guarded).map((path) => [path, null]));
    await one.repository.commit({ ...gone, 'scripts/other/main.py': '2' });
    await synced(one);
    await one.repository.commit({ ...guarded, 'scripts/other/main.py': '3' });
    const plan = await synced(one, '?dry_run=true');
    expect(plan.items.map(({ note }: { note: string | null }) => note)).toContain(
      'Takes effect when the script is restored.',
    );
    await synced(one);
    expect(await textOf((await scriptOf(one, 'other')).id)).toBe('3');
    expect((await platform.admin.get(`/api/v1/scripts/${id}`)).status).toBe(404);
    expect(await schedules()).toEqual([]);
    const list = await platform.admin.get(`/api/v1/approvals?script_id=${id}&status=pending`);
    const approval = `/api/v1/approvals/${list.json.items[0].id}/approve`;
    expect((await platform.admin.post(approval, {})).status).toBe(200);
    expect(await textOf(id)).toBe('print(1)');
    expect(await schedules()).toMatchObject([{ cron: '0 6 * * *' }]);
    const chains = await platform.admin.get(`/api/v1/chains?source_script_id=${id}`);
    expect(chains.json.items).toMatchObject([{ target_script_name: 'other' }]);
    expect((await synced(one)).counts).toMatchObject({ create: 0, change: 0, delete: 0 });
  });

  test('provides settings, schedules and chains', async () => {
    const one = await added({
      'scripts/a/script.json': JSON.stringify({
        name: 'First step',
        limits: { wall_clock_seconds: 60 },
        schedules: [{ cron: '0 6 * * *' }],
      }),
      'scripts/a/main.py': 'print(1)',
      'scripts/b/main.py': 'print(2)',
      'configuration.json': JSON.stringify({
        chains: [
          {
            id: '019bb111-0000-7000-8000-000000000001',
            source_script_id: 'scripts/a',
            target_script_id: 'scripts/b',
          },
        ],
      }),
    });
    expect((await synced(one)).counts.create).toBe(4);
    const script = await scriptOf(one, 'First step');
    expect(script.limits.wall_clock_seconds).toBe(60);
    const { json } = await platform.admin.get(`/api/v1/schedules?script_id=${script.id}`);
    expect(json.items).toMatchObject([{ cron: '0 6 * * *' }]);
    await one.repository.commit({ 'scripts/a/script.json': '{"name": "First step"}' });
    expect((await synced(one)).counts).toMatchObject({ delete: 1 });
  });

  test('updates only the scripts that a commit changes, and none in a dry run', async () => {
    const one = await added({ 'scripts/a/main.py': '1', 'scripts/b/main.py': '1' });
    const first = await synced(one);
    await one.repository.commit({ 'scripts/a/main.py': '2', 'scripts/a/lib.py': 'x' });
    const plan = await synced(one, '?dry_run=true');
    expect(plan).toMatchObject({ dry_run: true, counts: { change: 1, unchanged: 1 } });
    expect((await scriptOf(one, 'a')).source?.commit).toBe(first.commit.hash);
    const second = await synced(one);
    const scripts = await scriptsOf(one);
    expect(scripts.get('a')?.source?.commit).toBe(second.commit.hash);
    expect(scripts.get('b')?.source?.commit).toBe(first.commit.hash);
    expect(await textOf((await scriptOf(one, 'a')).id)).toBe('2');
    const { json } = await platform.admin.get(`${path}/${one.id}/commits`);
    expect(json.items.map(({ hash }: { hash: string }) => hash)).toEqual([
      second.commit.hash,
      first.commit.hash,
    ]);
  });

  test('deletes exactly the scripts and files that were removed from it', async () => {
    const other = await platform.admin.post('/api/v1/scripts', { name: 'By hand' });
    const files = { 'scripts/a/main.py': '1', 'scripts/a/old.py': '1', 'scripts/b/main.py': '1' };
    const one = await added(files);
    await synced(one);
    const { id } = await scriptOf(one, 'a');
    await one.repository.commit({ 'scripts/b/main.py': null, 'scripts/a/old.py': null });
    expect((await synced(one)).counts).toMatchObject({ delete: 1, change: 1 });
    expect([...(await scriptsOf(one)).keys()]).toEqual(['a']);
    expect((await platform.admin.get(`/api/v1/scripts/${id}/files/old.py`)).status).toBe(404);
    expect((await platform.admin.get(`/api/v1/scripts/${other.json.id}`)).status).toBe(200);
  });

  test.each([
    ['pools', { limit: 1 }],
    ['calendars', { periods: [], covered_until: '2030-01-01T00:00:00Z' }],
  ])(
    'deletes %s that a commit removes, and recreates them when a commit adds them again',
    async (section, settings) => {
      const items = [{ id: '019bb111-0000-7000-8000-00000000000b', name: 'again', ...settings }];
      const file = { 'configuration.json': JSON.stringify({ [section]: items }) };
      const one = await added({ ...file, 'scripts/a/main.py': '1' });
      await synced(one);
      await one.repository.commit({ 'configuration.json': null });
      expect((await synced(one)).counts.delete).toBe(1);
      await one.repository.commit(file);
      expect((await synced(one)).counts.create).toBe(1);
      expect((await synced(one, '?dry_run=true')).counts).toMatchObject({ create: 0, change: 0 });
      const { json } = await platform.admin.get(`/api/v1/${section}`);
      expect(json.items).toContainEqual(expect.objectContaining({ name: 'again' }));
    },
  );

  test('follows a force push to another history', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    await synced(one);
    await one.repository.git('checkout', '--quiet', '--orphan', 'new');
    const hash = await one.repository.commit({ 'scripts/a/main.py': 'rewritten' }, 'Rewrite');
    expect((await synced(one)).commit.hash).toBe(hash);
    expect(await textOf((await scriptOf(one, 'a')).id)).toBe('rewritten');
  });

  test('updates the commit of unchanged scripts after a force push', async () => {
    const one = await added({ 'scripts/a/main.py': '1', 'scripts/b/main.py': '1' });
    const { commit: first } = await synced(one);
    await one.repository.commit({ 'scripts/a/main.py': '2' });
    await one.repository.commit({ 'scripts/a/main.py': '3' });
    await synced(one);
    expect((await scriptOf(one, 'b')).source?.commit).toBe(first.hash);
    await one.repository.git('checkout', '--quiet', '--orphan', 'same');
    const hash = await one.repository.commit({ 'README.md': 'x' }, 'Rewrite');
    expect((await synced(one)).counts).toMatchObject({ change: 0, unchanged: 2 });
    for (const name of ['a', 'b']) {
      const { source } = await scriptOf(one, name);
      expect(source?.commit).toBe(hash);
      expect(source?.url).toContain(`/commit/${hash}`);
    }
  });

  test('adopts an existing script by its ID', async () => {
    const { json } = await platform.admin.post('/api/v1/scripts', { name: 'Existing' });
    const settings = JSON.stringify({ id: json.id, name: 'Existing' });
    const one = await added({ 'scripts/x/script.json': settings, 'scripts/x/main.py': 'new' });
    expect((await synced(one)).counts).toMatchObject({ create: 0, change: 1 });
    expect((await scriptOf(one, 'Existing')).id).toBe(json.id);
    const two = await added({ 'scripts/x/script.json': settings, 'scripts/x/main.py': 'other' });
    expect(await refused(two)).toContain('already provides the script');
  });
});

describeWith(gitProgram, 'a script from a repository', () => {
  test('can be disabled, but not edited or deleted, on the platform', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    await synced(one);
    const { id } = await scriptOf(one, 'a');
    const script = `/api/v1/scripts/${id}`;
    const answers = [
      await platform.admin.put(`${script}/files/main.py`, { content: '2' }),
      await platform.admin.patch(script, { name: 'Other' }),
      await platform.admin.delete(script),
    ];
    for (const { status, json } of answers) {
      expect(status).toBe(409);
      expect(json).toMatchObject({
        code: 'managed_by_repository',
        detail: 'The script comes from a Git repository. Change it there (scripts/a), then push.',
      });
    }
    expect((await platform.admin.post(`${script}/disable`, {})).status).toBeLessThan(300);
    expect((await synced(one)).counts).toMatchObject({ change: 0 });
  });

  test('can be edited again after the repository is removed', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    await synced(one);
    const { id } = await scriptOf(one, 'a');
    expect((await platform.admin.delete(`${path}/${one.id}`)).status).toBe(204);
    const { json } = await platform.admin.get(`/api/v1/scripts/${id}`);
    expect(json.source).toBeNull();
    expect((await platform.admin.patch(`/api/v1/scripts/${id}`, { name: 'b' })).status).toBe(200);
    const keys = await platform.pool.query('SELECT FROM data_keys WHERE script_id = $1', [one.id]);
    expect(keys.rowCount).toBe(0);
  });

  test('shows schedule changes as drift, which a sync reverts', async () => {
    const settings = { schedules: [{ cron: '0 6 * * *' }] };
    const one = await added({
      'scripts/a/main.py': '1',
      'scripts/a/script.json': JSON.stringify(settings),
    });
    await synced(one);
    const { id } = await scriptOf(one, 'a');
    const { json } = await platform.admin.get(`/api/v1/schedules?script_id=${id}`);
    await platform.admin.patch(`/api/v1/schedules/${json.items[0].id}`, { cron: '0 7 * * *' });
    const { items } = await synced(one, '?dry_run=true');
    expect(items).toContainEqual(
      expect.objectContaining({
        kind: 'schedule',
        action: 'change',
        changes: [{ field: 'cron', from: '0 7 * * *', to: '0 6 * * *' }],
      }),
    );
    expect((await synced(one)).counts.change).toBe(1);
  });
});

describeWith(gitProgram, 'a broken commit', () => {
  test.each([
    [
      'an invalid setting',
      { 'scripts/a/script.json': '{"limits": {"wall_clock_seconds": -1}}' },
      'scripts/a/script.json',
    ],
    [
      'an invalid document',
      { 'configuration.json': '{"scripts": ' },
      'configuration.json: The file is not JSON',
    ],
    [
      'a secret store',
      { 'configuration.json': '{"secret_stores": []}' },
      'Secret stores are not permitted',
    ],
    ['an unknown field', { 'configuration.json': '{"nothing": []}' }, 'configuration.json'],
    [
      'an invalid schedule',
      { 'scripts/a/script.json': '{"schedules": [{"cron": "0 6 * * *"}, {"cron": "99 * * * *"}]}' },
      'In scripts/a/script.json, schedules/1: The minute',
    ],
    [
      'an unknown folder',
      {
        'configuration.json':
          '{"chains": [{"id": "019bb111-0000-7000-8000-000000000009", "source_script_id": "scripts/none", "target_script_id": "scripts/a"}]}',
      },
      'In configuration.json: The field "chains/0/source_script_id" names the folder scripts/none, which does not exist.',
    ],
    [
      'two folders with the same id',
      {
        'scripts/a/script.json': '{"id": "019bb111-0000-7000-8000-00000000000a"}',
        'scripts/b/main.py': 'other',
        'scripts/b/script.json': '{"id": "019BB111-0000-7000-8000-00000000000A"}',
      },
      'In scripts/b/script.json: The folder scripts/a has the same "id": 019BB111-0000-7000-8000-00000000000A.',
    ],
    ['an invalid entry point', { 'scripts/a/script.json': '{"entrypoint": "../x"}' }, 'entrypoint'],
  ])('with %s changes nothing, and its problem is shown', async (_name, files, detail) => {
    const one = await added({ 'scripts/a/main.py': 'good' });
    await synced(one);
    const hash = await one.repository.commit({ ...files, 'scripts/a/main.py': 'bad' });
    expect(await refused(one)).toContain(detail);
    const { id } = await scriptOf(one, 'a');
    expect(await textOf(id)).toBe('good');
    const { error } = await shown(one);
    expect(error).toMatchObject({ detail: expect.stringContaining(detail), commit: { hash } });
    await one.repository.git('reset', '--quiet', '--hard', 'HEAD~1');
    await one.repository.commit({ 'scripts/a/main.py': 'repaired' });
    await synced(one);
    expect(await shown(one)).toMatchObject({ error: null });
  });

  test.each(['scripts/a/passwd', 'scripts/passwd'])(
    'with the symbolic link %s is refused',
    async (path) => {
      const one = await added({ 'scripts/a/main.py': '1' });
      await symlink('/etc/passwd', join(one.repository.folder, path));
      await one.repository.commit({});
      expect(await refused(one)).toContain(`"${path}" is a symbolic link`);
    },
  );

  test.each(['.git', '.GIT', '..'])(
    'with a script in a folder named %s is refused',
    async (name) => {
      const one = await added({ 'scripts/a/main.py': '1' });
      const { folder: cwd } = one.repository;
      const treeOf = (input: string) =>
        execFileSync('git', ['mktree'], { cwd, input, encoding: 'utf8' }).trim();
      const files = await one.repository.git('rev-parse', 'HEAD:scripts/a');
      const scripts = treeOf(`040000 tree ${files}\t${name}\n`);
      const tree = treeOf(`040000 tree ${scripts}\tscripts\n`);
      const commit = await one.repository.git('commit-tree', tree, '-m', 'Odd name');
      await one.repository.git('push', '--quiet', '--force', 'origin', `${commit}:main`);
      expect(await refused(one)).toContain(`In scripts/${name}: A folder of a script cannot have`);
    },
  );

  test('is reported once', async () => {
    const one = await added({ 'configuration.json': 'x' });
    await poll();
    await refused(one);
    await poll();
    const { rows } = await platform.pool.query(
      `SELECT type FROM events WHERE stream_id = 'repository-' || $1::text ORDER BY version`,
      [one.id],
    );
    expect(rows.map(({ type }) => type)).toEqual([
      'RepositoryCreated',
      'RepositorySyncFailed',
      'RepositoryFailureStarted',
    ]);
  });
});

describeWith(gitProgram, 'syncs', () => {
  test('requested concurrently run one after another', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    const all = await Promise.all([synced(one), synced(one), poll()]);
    expect(all[0].counts.create + all[1].counts.create).toBeLessThanOrEqual(1);
    expect((await scriptsOf(one)).size).toBe(1);
  });

  test('start when a repository is added or its settings change, without a webhook call', async () => {
    const one = await added({ 'scripts/a/main.py': '1', 'deploy/scripts/b/main.py': '1' });
    await poll();
    expect([...(await scriptsOf(one)).keys()]).toEqual(['a']);
    await platform.admin.patch(`${path}/${one.id}`, { folder: 'deploy' });
    await poll();
    const scripts = await scriptsOf(one);
    expect([...scripts.keys()]).toEqual(['b']);
    expect(scripts.get('b')?.source?.path).toBe('deploy/scripts/b');
  });

  test('poll for new commits', async () => {
    const one = await added({ 'scripts/a/main.py': '1' }, { poll_seconds: 10 });
    await poll();
    const hash = await one.repository.commit({ 'scripts/a/main.py': '2' });
    await platform.pool.query(`UPDATE repository_checks SET checked_at = now() - interval '11 s'`);
    await poll();
    expect(await shown(one)).toMatchObject({ last_commit: { hash } });
  });

  test('report a server that cannot be reached, and a host that is not permitted', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    await platform.admin.patch(`${path}/${one.id}`, { url: 'http://127.0.0.1:9/x.git' });
    expect(await refused(one)).toContain('git failed');
    const credential = { kind: 'token', token: 'canary-token' };
    const { url: known } = one.repository;
    await platform.admin.patch(`${path}/${one.id}`, { url: known, credential });
    server.authorization = 'Basic other';
    expect(await refused(one)).toContain('The server refused the credential');
    server.authorization = undefined;
    const url = 'https://10.0.0.1/x.git';
    await platform.admin.patch(`${path}/${one.id}`, { url, credential });
    expect(await refused(one)).toContain('ORCH_ALLOW_PRIVATE_TARGETS');
    expect((await platform.admin.get(`${path}/${one.id}`)).text).not.toContain('canary');
    const { rows } = await platform.pool.query(`SELECT data::text FROM events`);
    expect(JSON.stringify(rows)).not.toContain('canary');
  });
});

describeWith(gitProgram, 'a call from a Git server', () => {
  const call = async (
    { hook }: Added,
    headers: Record<string, string>,
    ref = 'refs/heads/main',
  ) => {
    const { pathname } = new URL(hook.url);
    const body = JSON.stringify({ ref });
    const signed = Object.fromEntries(
      Object.entries(headers).map(([name, secret]) => {
        const hmac = createHmac('sha256', secret).update(body).digest('hex');
        const isToken = name === 'X-Gitlab-Token';
        return [name, isToken ? secret : name === 'X-Gitea-Signature' ? hmac : `sha256=${hmac}`];
      }),
    );
    const all = { 'Content-Type': 'application/json', ...signed };
    return await platform.anonymous.send('POST', pathname, body, { headers: all });
  };

  test.each(['X-Hub-Signature-256', 'X-Gitea-Signature', 'X-Gitlab-Token'])(
    'with %s causes a sync',
    async (header) => {
      const one = await added({ 'scripts/a/main.py': '1' });
      await synced(one);
      const hash = await one.repository.commit({ 'scripts/a/main.py': '2' });
      expect((await call(one, { [header]: 'wrong' })).status).toBe(401);
      await poll();
      expect((await shown(one)).last_commit.hash).not.toBe(hash);
      const answer = await call(one, { [header]: one.hook.secret });
      expect(answer.status, answer.text).toBe(202);
      await poll();
      expect((await shown(one)).last_commit.hash).toBe(hash);
    },
  );

  test('must be signed, and is ignored for other branches', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    expect((await call(one, {})).status).toBe(401);
    const signed = { 'X-Hub-Signature-256': one.hook.secret };
    expect((await call(one, signed, 'refs/heads/other')).json.status).toBe('ignored');
    expect((await call(one, signed)).json.status).toBe('accepted');
    const rotated = await platform.admin.post(`${path}/${one.id}/rotate-hook`, {});
    expect((await call(one, signed)).status).toBe(404);
    const hook = rotated.json;
    const again = { 'X-Hub-Signature-256': hook.secret };
    expect((await call({ ...one, hook }, again)).json.status).toBe('accepted');
  });
});
