/** Tests failures of the command line, and commands that need no platform. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import type { RunAnswer } from './answers.ts';
import { exitCodeOf, outcomeOf } from './commands/follow.ts';
import { parametersOf } from './commands/parameters.ts';
import { writeProfiles, type Profile } from './profiles.ts';
import { hashFolder, writeInFolder } from './sync/folder.ts';
import { writeProject } from './sync/project.ts';
import { outputOf, serving, variablesFor } from './testing/command-line.ts';

let folder: string;
let environment: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-cli-'));
  environment = { XDG_CONFIG_HOME: folder };
});
afterAll(() => rm(folder, { recursive: true }));

const told = (line: string, variables: Record<string, string> = {}, from = folder) =>
  outputOf(line, { environment: { ...environment, ...variables }, folder: from });

const profile: Profile = {
  url: 'http://127.0.0.1:1',
  token: 'orch_x',
  email: 'ada@example.com',
  expires_at: '2020-01-01T00:00:00.000Z',
};

describe('prints a hint for an invalid command line:', () => {
  test.each([
    ['shedule', /Unknown command "shedule".*orchestrator schedule\?/],
    ['sync', /Expected one of: orchestrator sync pull/],
    ['runs --status broken', /--status is "broken": expected one of queued/],
    ['runs --statu failed', /Unknown option '--statu'.*orchestrator runs --help/],
    ['runs --limit 0', /--limit is "0": expected a whole number/],
    ['run', /Expected SCRIPT/],
    ['schedule preview', /Expected one of SCHEDULE, --cron and --every/],
    ['schedule preview 0 9 * * *', /is not the ID of a schedule.*--cron "0 9 \* \* \*"/],
    ['projections rebuild', /Expected the NAME of a read model/],
    ['audit verify --head 3:abc', /--head is "3:abc": expected a complete head from audit verify/],
    ['completion tcsh', /Expected bash, zsh or fish/],
    ['login ftp://example.com', /is not a server URL/],
    ['login --password-stdin', /--password-stdin requires --email/],
  ])('%s', async (line, problem) => {
    const answer = await told(line, variablesFor('http://127.0.0.1:1'));
    expect(answer.problem).toMatch(problem);
    expect(answer.code).toBe(64);
  });
});

test('help names every command, and the help of each command shows an example', async () => {
  const { out } = await told('help');
  const names = Array.from(out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/gm), ([, name]) => name!);
  expect(names).toContain('sync push');
  for (const name of names) {
    const { code, out: help } = await told(`${name} --help`);
    expect([code, help]).toEqual([0, expect.stringContaining(`  orchestrator ${name}`)]);
  }
});

describe('prints a message with the next step for', () => {
  test('a missing sign-in', async () => {
    const { code, problem } = await told('runs');
    expect([code, problem]).toEqual([77, 'Not signed in. Sign in: orchestrator login URL']);
  });

  test('an unreachable server', async () => {
    const [port] = await freePorts(1);
    const { code, problem } = await told('runs', variablesFor(`http://127.0.0.1:${port}`));
    expect(problem).toMatch(
      /^http:\/\/127.0.0.1:\d+ does not respond \(.*ECONNREFUSED.*\)\. Check/,
    );
    expect(code).toBe(69);
  });

  test.each([
    [401, 77, /expired or was revoked. Sign in again: orchestrator login/],
    [403, 77, /not yours/],
    [404, 66, /not yours/],
    [409, 65, /not yours/],
    [503, 69, /not yours/],
    [500, 70, /not yours/],
  ])('the response %s', async (status, expected, sentence) => {
    await using server = await serving((_request, response) => {
      response.writeHead(status).end(JSON.stringify({ code: 'x', detail: 'It is not yours.' }));
    });
    const { code, problem } = await told('runs', variablesFor(server.url));
    expect(problem).toMatch(sentence);
    expect(code).toBe(expected);
  });

  test.each([
    ['logs 123', 'No run "123" found. List yours: orchestrator runs'],
    ['stop 123', 'No run "123" found. List yours: orchestrator runs'],
    ['backup download 123', 'No backup "123" found. List yours: orchestrator backup list'],
  ])('an unknown resource: %s', async (line, sentence) => {
    await using server = await serving((_request, response) => {
      response.writeHead(404).end(JSON.stringify({ code: 'not_found', detail: 'Nothing.' }));
    });
    const { code, problem } = await told(line, variablesFor(server.url));
    expect([code, problem]).toEqual([66, sentence]);
  });

  test('one field error, printed once, or several, printed with their fields', async () => {
    const errors = [
      { pointer: '/cron', detail: 'It is not yours.' },
      { pointer: '/tz', detail: 'It is nowhere.' },
    ];
    await using server = await serving((_request, response) => {
      response
        .writeHead(422)
        .end(JSON.stringify({ code: 'x', detail: 'It is not yours.', errors }));
    });
    const { problem } = await told('runs', variablesFor(server.url));
    expect(problem).toBe('It is not yours. /tz: It is nowhere.');
  });

  test('an expired token, without a request to the server', async () => {
    await writeProfiles(environment, { current: 'work', profiles: { work: profile } });
    expect((await stat(join(folder, 'orchestrator', 'config.json'))).mode & 0o777).toBe(0o600);
    const { code, problem } = await told('runs');
    expect(problem).toMatch(
      /expired at 2020.*orchestrator login http:\/\/127.0.0.1:1 --profile work/,
    );
    expect(code).toBe(77);
    expect((await told('runs --profile home')).problem).toMatch(/as "home". Profiles: work\./);
    expect((await told('profiles')).out).toMatch(/work +http:\/\/127.0.0.1:1 +ada@example.com/);
  });

  test('incomplete environment variables, or an invalid configuration file', async () => {
    const half = await told('runs', { ORCHESTRATOR_URL: 'http://127.0.0.1:1' });
    expect([half.code, half.problem]).toEqual([
      78,
      expect.stringMatching(/^ORCHESTRATOR_TOKEN is miss/),
    ]);
    const broken = join(folder, 'broken');
    await mkdir(join(broken, 'orchestrator'), { recursive: true });
    await writeFile(join(broken, 'orchestrator', 'config.json'), '{');
    const answer = await told('runs', { XDG_CONFIG_HOME: broken });
    expect([answer.code, answer.problem]).toEqual([78, expect.stringMatching(/cannot be read/)]);
  });

  test('a command outside a project, or files that the platform refuses', async () => {
    const variables = variablesFor('http://127.0.0.1:1');
    const outside = await told('sync push', variables);
    expect([outside.code, outside.problem]).toEqual([
      66,
      expect.stringMatching(/no .orchestrator.json here or above/),
    ]);
    const project = join(folder, 'project');
    await mkdir(project);
    const record = { server: 'http://127.0.0.1:1', script_id: 'x', script_name: 'x', base: {} };
    await writeProject(project, record);
    await writeFile(join(project, 'large.bin'), Buffer.alloc(10 * 1024 * 1024 + 1));
    await writeFile(join(project, 'back\\slash'), '');
    const limits = await told('sync push', variables, project);
    expect(limits.problem).toMatch(/large.bin: it has 10485761 bytes/);
    expect(limits.problem).toMatch(/backslash/);
    expect(limits.code).toBe(65);
  });

  test('an output stream that was closed early', async () => {
    await using server = await serving((_request, response) => {
      const runs = Array.from({ length: 200 }, () => ({ text: 'x'.repeat(10_000) }));
      response.end(JSON.stringify({ items: runs, next_cursor: null }));
    });
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const child = spawn(process.execPath, [main, 'scripts', '-o', 'json', '--limit', '200'], {
      env: { ...environment, ...variablesFor(server.url) },
    });
    child.stdout.destroy();
    const [problem, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([code, problem]).toEqual([
      141,
      'The output was closed early; the rest was discarded.\n',
    ]);
  });
});

test('a sync reads only files inside the folder, and writes nothing through a link', async () => {
  const project = join(folder, 'links');
  await mkdir(join(project, '.git'), { recursive: true });
  await mkdir(join(project, 'lib'));
  for (const path of ['main.py', 'lib/x.py', '.env', '.git/config', 'x.pyc']) {
    await writeFile(join(project, path), path);
  }
  await symlink('/etc', join(project, 'linked'));
  expect(Object.keys(await hashFolder(project)).toSorted()).toEqual(['lib/x.py', 'main.py']);
  await writeInFolder(project, 'new/deep.py', Buffer.from('1'));
  expect(await readFile(join(project, 'new/deep.py'), 'utf8')).toBe('1');
  await expect(writeInFolder(project, 'linked/passwd', Buffer.from('1'))).rejects.toThrow(/link/);
  await expect(writeInFolder(project, '../out', Buffer.from('1'))).rejects.toThrow(/link/);
});

test('parameters are parsed as text or JSON, according to the schema', () => {
  const pairs = ['day=2026', 'count=3', 'dry=true', 'word=a=b', 'list=[1]'];
  expect(parametersOf('{"count": 1, "more": 2}', pairs, { day: { type: 'string' } })).toEqual({
    count: 3,
    more: 2,
    day: '2026',
    dry: true,
    word: 'a=b',
    list: [1],
  });
  expect(parametersOf(undefined, [], {})).toBeUndefined();
  expect(() => parametersOf('[]', [], {})).toThrow(/not a JSON object/);
  expect(() => parametersOf(undefined, ['x'], {})).toThrow(/expected NAME=VALUE/);
});

test.each([
  ['success', null, 0, null, 0],
  ['failed', 'exit_code', 3, null, 3],
  ['failed', 'timeout', null, 'SIGKILL', 124],
  ['failed', 'memory_limit', null, 'SIGKILL', 137],
  ['stopped', null, null, 'SIGTERM', 143],
  ['failed', 'environment_error', null, null, 1],
] as const)(
  'the exit code is $4, as in a shell, after a run with the status $0 ($1)',
  (status, reason, code, signal, expected) => {
    const run = ended({ status, failure_reason: reason, exit_code: code, signal });
    expect(exitCodeOf(run)).toBe(expected);
  },
);

test.each([
  ['exit_code', { type: 'exit_code', message: 'It did.', source: 'platform' }, 'exit code 1.'],
  ['exit_code', { type: 'ValueError', message: 'a\nb', source: 'log' }, 'code 1: ValueError: a'],
  ['exit_code', { type: 'AssertionError', message: '', source: 'log' }, 'code 1: AssertionError'],
  ['timeout', { type: 'timeout', message: 'Too long.', source: 'platform' }, '1: Too long.'],
] as const)('the summary of a failed run (%s) names its error: %j', (failure, error, expected) => {
  const run = ended({ status: 'failed', failure_reason: failure, exit_code: 1, error });
  expect(outcomeOf(run).endsWith(expected)).toBe(true);
});

function ended(run: Partial<RunAnswer>): RunAnswer {
  return {
    run_id: 'x',
    script_name: 'x',
    status: 'success',
    trigger_type: 'api',
    queued_at: '',
    duration_ms: 1,
    exit_code: null,
    signal: null,
    failure_reason: null,
    error: null,
    ...run,
  };
}
