// Long because the tests share one installation and one Git server.
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
}

/** Adds and syncs a repository whose scripts can be edited on the platform. */
async function added(files: Record<string, string>, body: object = {}): Promise<Added> {
  const repository = await server.repository(`written-${(made += 1)}`);
  await repository.commit(files, 'First');
  const name = `Written ${made}`;
  const mode = 'write_back';
  const wanted = { name, url: repository.url, poll_seconds: null, mode, ...body };
  const answer = await platform.admin.post(path, wanted);
  expect(answer.status, answer.text).toBe(201);
  const one = { id: answer.json.id, repository };
  await synced(one);
  return one;
}

async function synced({ id }: Added, query = '') {
  const answer = await platform.admin.post(`${path}/${id}/sync${query}`, {});
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

async function shown({ id }: Added) {
  return (await platform.admin.get(`${path}/${id}`)).json;
}

/** Finds the script that comes from this folder. @returns its URL */
async function scriptAt({ id }: Added, folder: string): Promise<string> {
  const { json } = await platform.admin.get('/api/v1/scripts?limit=200');
  const found = json.items.find(
    ({ source }: { source: { repository_id: string; path: string } | null }) =>
      source?.repository_id === id && source.path === folder,
  );
  return `/api/v1/scripts/${found.id}`;
}

async function save(script: string, content: string, file = 'main.py'): Promise<void> {
  const answer = await platform.admin.put(`${script}/files/${file}`, { content });
  expect(answer.status, answer.text).toBeLessThan(300);
}

async function textOf(script: string, file = 'main.py'): Promise<string> {
  return (await platform.admin.get(`${script}/files/${file}`)).text;
}

/** Reads a file from the Git server. */
async function pushedText({ repository }: Added, file: string, branch = 'main') {
  await repository.git('fetch', '--quiet', 'origin');
  return await repository.git('show', `origin/${branch}:${file}`);
}

async function commitsOf({ repository }: Added, branch = 'main'): Promise<number> {
  await repository.git('fetch', '--quiet', 'origin');
  return Number(await repository.git('rev-list', '--count', `origin/${branch}`));
}

/** Fetches the pushed commits, and adds a commit on top. */
async function commitOnTop(one: Added, files: Record<string, string | null>, branch = 'main') {
  await one.repository.git('fetch', '--quiet', 'origin');
  await one.repository.git('reset', '--quiet', '--hard', `origin/${branch}`);
  return await one.repository.commit(files);
}

describeWith(gitProgram, 'a script change', () => {
  test('becomes a commit by its author that names the version and the event', async () => {
    const one = await added({
      'scripts/a/main.py': '1',
      'scripts/a/old.py': '1',
      'README.md': 'x',
    });
    const script = await scriptAt(one, 'scripts/a');
    expect((await platform.admin.get(script)).json.source.editable).toBe(true);
    await save(script, '2');
    await save(script, 'new', 'lib/new file.py');
    await platform.admin.delete(`${script}/files/old.py`);
    expect((await shown(one)).drift).toMatchObject([
      {
        kind: 'script',
        name: 'a',
        path: 'scripts/a',
        by: 'admin@example.com',
        commit: null,
        conflict: null,
      },
    ]);
    const { commit, counts } = await synced(one);
    expect(counts).toMatchObject({ change: 0, unchanged: 1 });
    expect(await pushedText(one, 'scripts/a/main.py')).toBe('2');
    expect(await pushedText(one, 'scripts/a/lib/new file.py')).toBe('new');
    await expect(pushedText(one, 'scripts/a/old.py')).rejects.toThrow('old.py');
    expect(await pushedText(one, 'README.md')).toBe('x');
    const text = await one.repository.git('log', '-1', '--format=%an <%ae>%n%B', commit.hash);
    expect(text).toMatch(/^\S.* <admin@example\.com>\nChange scripts\/a\n/);
    expect(text).toContain(`Orchestrator-Script: ${script.split('/').at(-1)} 4`);
    expect(text).toMatch(/Orchestrator-Event: [0-9a-f-]{36}/);
    expect((await shown(one)).drift).toEqual([]);
    expect((await platform.admin.get(script)).json.source.commit).toBe(commit.hash);
    expect(await commitsOf(one)).toBe(2);
    await synced(one);
    expect(await commitsOf(one)).toBe(2);
  });

  test('to settings changes only the corresponding fields of script.json', async () => {
    const settings = '{\n\t"limits": {"wall_clock_seconds": 60},\n\t"schedules": []\n}\n';
    const one = await added({ 'scripts/a/main.py': '1', 'scripts/a/script.json': settings });
    const script = await scriptAt(one, 'scripts/a');
    await platform.admin.patch(script, {
      name: 'Renamed',
      limits: { wall_clock_seconds: 90 },
      environment: { A: '1' },
    });
    await synced(one);
    expect(JSON.parse(await pushedText(one, 'scripts/a/script.json'))).toEqual({
      limits: { wall_clock_seconds: 90 },
      schedules: [],
      name: 'Renamed',
      environment: { A: '1' },
    });
    expect(await pushedText(one, 'scripts/a/script.json')).toContain('\n\t"limits"');
    expect((await shown(one)).drift).toEqual([]);
  });

  test('is pushed automatically a few seconds later', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, '2');
    const poll = () => syncDueRepositories(platform.services, new AbortController().signal);
    await poll();
    expect(await commitsOf(one)).toBe(1);
    await platform.pool.query(`UPDATE scripts SET updated_at = now() - interval '6 s'`);
    await poll();
    expect(await pushedText(one, 'scripts/a/main.py')).toBe('2');
    expect((await shown(one)).drift).toEqual([]);
  });

  test('is merged with changes from other authors in the repository', async () => {
    const one = await added({ 'scripts/a/main.py': '1', 'scripts/a/b.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, 'here');
    await one.repository.commit({ 'scripts/a/b.py': 'there' });
    await synced(one);
    expect(await textOf(script)).toBe('here');
    expect(await textOf(script, 'b.py')).toBe('there');
    expect(await pushedText(one, 'scripts/a/main.py')).toBe('here');
    expect((await shown(one)).drift).toEqual([]);
  });

  test('that conflicts with a commit is kept and shown until it is discarded', async () => {
    const one = await added({ 'scripts/a/main.py': '1', 'scripts/b/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, 'here');
    await one.repository.commit({ 'scripts/a/main.py': 'there', 'scripts/b/main.py': '2' });
    await synced(one);
    expect(await textOf(script)).toBe('here');
    expect(await textOf(await scriptAt(one, 'scripts/b'))).toBe('2');
    const conflict = 'scripts/a/main.py was also changed in the repository.';
    expect((await shown(one)).drift).toMatchObject([{ conflict, commit: null }]);
    expect(await commitsOf(one)).toBe(2);
    const plan = await synced(one, '?dry_run=true&discard=true');
    expect(plan.counts.change).toBe(1);
    await synced(one, '?discard=true');
    expect(await textOf(script)).toBe('there');
    expect((await shown(one)).drift).toEqual([]);
    expect(await commitsOf(one)).toBe(2);
  });

  test('is kept as a conflict with the schedules of the script after a commit deletes its folder, until it is discarded', async () => {
    const settings = '{"schedules": [{"cron": "0 6 * * *"}]}';
    const one = await added({
      'scripts/a/main.py': '1',
      'scripts/a/script.json': settings,
      'scripts/b/main.py': '1',
    });
    const script = await scriptAt(one, 'scripts/a');
    const schedules = async () => {
      const query = `script_id=${script.split('/').at(-1)}`;
      return (await platform.admin.get(`/api/v1/schedules?${query}`)).json.items;
    };
    await save(script, 'here');
    await one.repository.commit({
      'scripts/a/main.py': null,
      'scripts/a/script.json': null,
      'scripts/b/main.py': '2',
    });
    const plan = await synced(one, '?dry_run=true');
    expect(plan.counts).toMatchObject({ delete: 0, change: 1 });
    expect(plan.items).toContainEqual(
      expect.objectContaining({
        name: 'a',
        note: expect.stringContaining('Conflict: the commit deletes the folder'),
      }),
    );
    await synced(one);
    expect(await textOf(script)).toBe('here');
    expect(await textOf(await scriptAt(one, 'scripts/b'))).toBe('2');
    expect(await schedules()).toMatchObject([{ cron: '0 6 * * *', enabled: true }]);
    const conflict = 'The folder scripts/a was deleted.';
    expect((await shown(one)).drift).toMatchObject([{ name: 'a', conflict, commit: null }]);
    expect((await synced(one, '?discard=true')).counts.delete).toBe(2);
    expect(await schedules()).toEqual([]);
    expect((await shown(one)).drift).toEqual([]);
  });

  test('is pushed to the configured write branch, and remains drift until it is merged', async () => {
    const one = await added({ 'scripts/a/main.py': '1' }, { write_branch: 'orchestrator/changes' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, '2');
    await synced(one);
    await save(script, '3');
    await synced(one);
    expect(await pushedText(one, 'scripts/a/main.py')).toBe('1');
    expect(await pushedText(one, 'scripts/a/main.py', 'orchestrator/changes')).toBe('3');
    expect(await commitsOf(one, 'orchestrator/changes')).toBe(3);
    expect((await shown(one)).drift).toMatchObject([
      { commit: { branch: 'orchestrator/changes' }, conflict: null },
    ]);
    await one.repository.commit({ 'scripts/c/main.py': 'c' });
    await synced(one);
    expect(await textOf(script)).toBe('3');
    await commitOnTop(one, { 'scripts/c/main.py': 'c' }, 'orchestrator/changes');
    await synced(one);
    expect((await shown(one)).drift).toEqual([]);
    expect(await textOf(script)).toBe('3');
  });

  test('is refused if the script has no folder in the repository', async () => {
    const document = { scripts: [{ id: '019bb111-0000-7000-8000-0000000000aa', name: 'Inline' }] };
    const one = await added({ 'configuration.json': JSON.stringify(document) });
    const script = await scriptAt(one, 'configuration.json');
    const answer = await platform.admin.put(`${script}/files/main.py`, { content: '2' });
    expect(answer.json.code).toBe('managed_by_repository');
  });

  test('cannot replace the settings file in the repository', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    const file = await platform.admin.put(`${script}/files/script.json`, { content: '{}' });
    const body = { to: 'script.json' };
    const move = await platform.admin.post(`${script}/files/main.py/move`, body);
    for (const { status, json } of [file, move]) {
      expect(status).toBe(422);
      expect(json.detail).toContain('cannot be named script.json');
    }
    expect((await shown(one)).drift).toEqual([]);
  });
});

describeWith(gitProgram, 'a push', () => {
  test('whose record was lost is not repeated, even after a revert', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    const { json: before } = await platform.admin.get(script);
    const source = await platform.pool.query('SELECT source FROM scripts WHERE script_id = $1', [
      before.id,
    ]);
    await save(script, '2');
    await synced(one);
    // Simulates a crash between the push and its record.
    await platform.pool.query('UPDATE scripts SET source = $1 WHERE script_id = $2', [
      source.rows[0].source,
      before.id,
    ]);
    await commitOnTop(one, { 'scripts/a/main.py': '1' });
    await synced(one);
    expect(await commitsOf(one)).toBe(3);
    expect(await textOf(script)).toBe('1');
  });

  test('that is preceded by another commit is rebuilt on that commit', async () => {
    const one = await added({ 'scripts/a/main.py': '1', 'scripts/b/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, 'here');
    server.beforePush = async () => {
      server.beforePush = undefined;
      await one.repository.commit({ 'scripts/b/main.py': 'first' });
    };
    await synced(one);
    expect(await pushedText(one, 'scripts/a/main.py')).toBe('here');
    expect(await pushedText(one, 'scripts/b/main.py')).toBe('first');
    expect(await commitsOf(one)).toBe(3);
  });

  test('whose response is lost is recorded once', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, '2');
    server.losesReplies = true;
    await synced(one);
    server.losesReplies = false;
    expect(await commitsOf(one)).toBe(2);
    expect((await shown(one)).drift).toEqual([]);
  });

  test('that the server refuses is reported, and retried later', async () => {
    const one = await added({ 'scripts/a/main.py': '1' });
    const script = await scriptAt(one, 'scripts/a');
    await save(script, '2');
    server.refusesPushes = true;
    const answer = await platform.admin.post(`${path}/${one.id}/sync`, {});
    server.refusesPushes = false;
    expect(answer.json.code).toBe('sync_failed');
    expect(await shown(one)).toMatchObject({ drift: [{ commit: null }] });
    expect((await shown(one)).error.detail).toContain('git failed');
    await synced(one);
    expect(await pushedText(one, 'scripts/a/main.py')).toBe('2');
    expect(await shown(one)).toMatchObject({ drift: [], error: null });
  });
});

test('a key with a passphrase is refused when it is entered', async () => {
  const credential = {
    kind: 'ssh_key',
    private_key:
      '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n',
    known_hosts: 'git.example.com ssh-ed25519 AAAA',
  };
  const wanted = { name: 'Encrypted', url: 'git@git.example.com:team/jobs.git', credential };
  const answer = await platform.admin.post(path, wanted);
  expect(answer.status).toBe(422);
  expect(answer.json.errors).toMatchObject([{ pointer: '/credential/private_key' }]);
  expect(answer.json.detail).toContain('has a passphrase');
});
