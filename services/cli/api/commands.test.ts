// Long because each kind of response has an example.
/** Checks that every API operation has a command, and that commands send the values of their options. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { globalOptions } from '../options.ts';
import { runLine } from '../program.ts';
import { apiCommands } from './commands.ts';
import { baseIdOf, operationsOf, type Description } from './describe.ts';
import { withoutCommand } from './names.ts';
import { readOperations } from './operations.ts';

const source = new URL('../../../docs/openapi.json', import.meta.url);
const description = JSON.parse(readFileSync(source, 'utf8')) as Description;
const id = '019aa3f2-5b1c-7d2e-9f30-4a1b2c3d4e5f';

describe('the operations table', () => {
  test('matches the API description', () => {
    expect(readOperations(), 'run node services/cli/api/write-operations.ts').toEqual(
      operationsOf(description),
    );
  });

  test('contains every operation, except those excluded with a reason', () => {
    const described = Object.values(description.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => baseIdOf(operationId)),
    );
    const reached = [...readOperations().map((one) => one.id), ...Object.keys(withoutCommand)];
    expect(new Set(reached)).toEqual(new Set(described));
    expect(reached).toHaveLength(new Set(reached).size);
  });

  test('gives each command a unique name of one or two words', () => {
    const names = readOperations().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+( [a-z]+(-[a-z]+)*)?$/);
  });

  test('gives every field its own option', () => {
    const taken = new Set([...Object.keys(globalOptions), 'yes', 'all', 'body', 'file']);
    for (const { name, fields } of readOperations()) {
      const labels = fields.map(({ label }) => label);
      expect(new Set(labels).size, name).toBe(labels.length);
      expect(
        labels.filter((label) => taken.has(label)),
        name,
      ).toEqual([]);
    }
  });

  test('looks up groups by name, and error groups by ID', () => {
    const fields = readOperations().flatMap((operation) => operation.fields);
    const kindOf = (name: string) => fields.find((field) => field.name === name)?.refersTo;
    expect(kindOf('group_id')).toBe('group');
    expect(kindOf('error_group_id')).toBeUndefined();
  });

  test('accepts no secret as a command-line argument', () => {
    const secrets = apiCommands().flatMap(({ options = {} }) => Object.keys(options));
    expect(secrets).toContain('value-from');
    expect(secrets.filter((name) => /^value$|password$/.test(name))).toEqual([]);
  });
});

interface Sent {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly body: string;
}

let answers: Record<string, unknown>;
let status: number;
let sent: Sent[];
let folder: string;
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { method, url, headers } = request;
    const key = headers['idempotency-key'];
    sent.push({ method, url, type: headers['content-type'], key: key?.toString(), body });
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('X-Request-Id', '1');
    const answer = answers[`${method} ${url}`];
    response.statusCode = answer === undefined ? 404 : status;
    response.end(JSON.stringify(answer ?? { code: 'not_found', detail: 'Not found.' }));
  });
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-api-commands-'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await once(server.close(), 'close');
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  [answers, status, sent] = [{}, 200, []];
});

async function orchestrator(...line: string[]) {
  const [lines, problems]: [string[], string[]] = [[], []];
  const code = await runLine(line, {
    terminal: {
      colors: false,
      line: (one) => lines.push(one),
      write: (bytes) => lines.push(Buffer.from(bytes).toString()),
      problem: (one) => problems.push(one),
      progress: () => undefined,
      drained: () => Promise.resolve(),
    },
    environment: {
      ORCHESTRATOR_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ORCHESTRATOR_TOKEN: 'orch_x',
    },
    folder,
    signal: new AbortController().signal,
    input: () => Promise.resolve('hush\n'),
  });
  return { code, out: lines.join('\n'), problem: problems.join('\n') };
}

describe('a request', () => {
  test('looks up scripts by name, and converts values to the types of their fields', async () => {
    answers['GET /api/v1/scripts?q=Nightly+report&limit=200'] = {
      items: [{ id, name: 'Nightly report' }],
      next_cursor: null,
    };
    answers['POST /api/v1/schedules'] = { id: 'new', cron: '0 6 * * *' };
    const line = `schedules create --max-lateness-seconds 60 --no-enabled --end-at null --params {"a":1}`;
    const timing = ['--script', 'Nightly report', '--cron', '0 6 * * *'];
    const created = await orchestrator(...line.split(' '), ...timing);
    expect(created).toEqual({ code: 0, out: 'id    new\ncron  0 6 * * *', problem: '' });
    const [, request] = sent;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      script_id: id,
      cron: '0 6 * * *',
      max_lateness_seconds: 60,
      enabled: false,
      end_at: null,
      params: { a: 1 },
    });
    expect(request?.key).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('accepts repeated options for lists, and further fields from a file', async () => {
    await writeFile(join(folder, 'rule.json'), '{"name": "other", "failed_times": 5}');
    answers['POST /api/v1/notifications/rules'] = {};
    const line = 'rules create --body @rule.json --name failures --on failed --on missed --channel';
    await orchestrator(...line.split(' '), id);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
      name: 'failures',
      failed_times: 5,
      on: ['failed', 'missed'],
      channel_ids: [id],
    });
  });

  test('reads secrets from standard input, without the line break', async () => {
    answers[`PUT /api/v1/scripts/${id}/secrets/API_TOKEN`] = { name: 'API_TOKEN' };
    await orchestrator('secrets', 'set', id, 'API_TOKEN', '--value-from', '-');
    expect(sent[0]?.body).toBe('{"value":"hush"}');
  });

  test('sends a file unchanged', async () => {
    await writeFile(join(folder, 'x.bin'), Buffer.from([0, 255]));
    answers[`PUT /api/v1/scripts/${id}/files/lib/x.bin`] = { path: 'lib/x.bin' };
    const { code } = await orchestrator('files', 'save', id, 'lib/x.bin', '--file', 'x.bin');
    expect([code, sent[0]?.type]).toEqual([0, 'application/octet-stream']);
    expect(sent[0]?.body).toBe('\0�');
  });

  test.each([
    ['schedules create', 64, '--script is missing: name or ID of the script.'],
    [
      'schedules create --script x --catch-up never',
      64,
      '--catch-up is "never": expected one of none',
    ],
    ['schedules create --script x --params {', 64, '--params is not JSON.'],
    ['runs get', 64, 'Expected RUN. Arguments given: 0.'],
    ['groups get none', 66, 'No group "none" found.'],
    [`webhooks get ${id}`, 66, 'Not found. See the commands: orchestrator webhooks --help'],
    ['scripts list now', 64, 'Expected no arguments. Arguments given: 1.'],
    ['scripts enabel x', 64, 'Expected at most one TEXT. See: orchestrator scripts --help'],
    [`api FETCH /api/v1/runs`, 64, 'Expected METHOD PATH'],
  ])('is refused with a reason when invalid: %s', async (line, code, problem) => {
    answers['GET /api/v1/groups?limit=200'] = { items: [], next_cursor: null };
    answers['GET /api/v1/scripts?q=x&limit=200'] = {
      items: [{ id, name: 'x' }],
      next_cursor: null,
    };
    const told = await orchestrator(...line.split(' '));
    expect([told.code, told.problem]).toEqual([code, expect.stringContaining(problem)]);
  });

  test('names the option of a field that the server refuses', async () => {
    status = 422;
    answers['POST /api/v1/schedules'] = {
      code: 'validation_failed',
      detail: 'It is no cron expression.',
      errors: [{ pointer: '/cron', detail: 'It is no cron expression.' }],
    };
    const { code, problem } = await orchestrator('schedules', 'create', '--script', id);
    expect([code, problem]).toEqual([65, '--cron: It is no cron expression.']);
  });
});

describe('a destructive command', () => {
  const path = `DELETE /api/v1/schedules/${id}`;

  test('is refused if there is no terminal for the confirmation', async () => {
    answers[path] = {};
    const { code, problem } = await orchestrator('schedules', 'delete', id);
    expect([code, problem, sent]).toEqual([
      64,
      'Cannot prompt without a terminal. Pass --yes to confirm.',
      [],
    ]);
  });

  test('runs with --yes', async () => {
    answers[path] = {};
    const { code } = await orchestrator('schedules', 'delete', id, '--yes');
    expect([code, sent.length]).toEqual([0, 1]);
  });
});

describe('a list', () => {
  const page = (cursor: string | null, name: string, unread: number) => ({
    items: [{ id: name, name }],
    next_cursor: cursor,
    unread,
  });

  test('returns all pages with --all', async () => {
    answers['GET /api/v1/groups?limit=200'] = page('more', 'first', 1);
    answers['GET /api/v1/groups?limit=200&cursor=more'] = page(null, 'second', 1);
    const { out } = await orchestrator('groups', 'list', '--all', '--json');
    expect(JSON.parse(out)).toEqual({
      items: [...page('', 'first', 1).items, ...page('', 'second', 1).items],
      next_cursor: null,
      unread: 1,
    });
  });

  test('reports that there are more results beyond --limit', async () => {
    answers['GET /api/v1/groups?limit=1'] = {
      items: [{ id: 'a', name: 'b' }],
      next_cursor: 'more',
    };
    expect(await orchestrator('groups', 'list', '--limit', '1')).toEqual({
      code: 0,
      out: 'ID  NAME\na   b',
      problem: 'More than 1 items exist. Show all: --all',
    });
  });
});

describe('a response', () => {
  test("is printed as the API's JSON with --json", async () => {
    answers['GET /api/v1/system/retention'] = { logs_days: 90, changed_by: null };
    const { out } = await orchestrator('retention', 'get', '--json');
    expect(out).toBe('{"logs_days":90,"changed_by":null}');
  });

  const error = {
    type: 'ValueError',
    message: 'no rows\nin table',
    frames: [
      { file: 'main.py', line: 7, function: '<module>', code: 'load()', own: true },
      { file: '/lib/csv.py', line: 1, function: 'read', code: 'raise', own: false },
    ],
    causes: [
      {
        relation: 'cause',
        type: 'KeyError',
        message: "'day'",
        frames: [{ file: 'main.py', line: 3, function: 'load', code: 'row["day"]', own: true }],
      },
    ],
    source: 'hook',
  };

  test("shows an error as exceptions with the script's frames", async () => {
    answers['GET /api/v1/runs/1'] = { status: 'failed', error, params: {} };
    expect((await orchestrator('runs', 'get', '1')).out.split('\n')).toEqual([
      'status  failed',
      'error',
      '  ValueError: no rows',
      '  in table',
      '    main.py:7 in <module>',
      '      load()',
      '  cause:',
      "    KeyError: 'day'",
      '      main.py:3 in load',
      '        row["day"]',
      'params  {}',
    ]);
    const platform = { ...error, type: 'timeout', message: 'Time limit.', source: 'platform' };
    answers['GET /api/v1/runs/1'] = { error: { ...platform, frames: [], causes: [] } };
    expect((await orchestrator('runs', 'get', '1')).out).toBe('error\n  Time limit.');
    const asJson = await orchestrator('runs', 'get', '1', '-o', 'json');
    expect(JSON.parse(asJson.out)).toEqual(answers['GET /api/v1/runs/1']);
  });

  test('shows the error of each run in the list of runs', async () => {
    const run = { run_id: '1', script_name: 'etl', status: 'failed', trigger_type: 'api' };
    const ended = { ...run, queued_at: 'now', duration_ms: 1000, failure_reason: 'exit_code' };
    answers['GET /api/v1/runs?limit=20'] = { items: [{ ...ended, error }], next_cursor: null };
    const { out } = await orchestrator('runs');
    expect(out).toMatch(/DURATION +ERROR\n.* exit_code .* 1\.0 s +ValueError: no rows$/);
  });

  test('shows changes with their diffs', async () => {
    answers['GET /api/v1/runs/1/changes'] = {
      to: 3,
      files: [
        { path: 'main.py', diff: '@@ -1 +1 @@\n-\tprint(1)\n+\tprint(2)\u001B\n' },
        { path: 'x.py', diff: null },
      ],
      settings: [],
      environment: { python: null, packages: [{ name: 'requests', before: null, after: '2.0' }] },
    };
    expect((await orchestrator('runs', 'list-changes', '1')).out.split('\n')).toEqual([
      'to           3',
      'files',
      '  - path  main.py',
      '    diff',
      '      @@ -1 +1 @@',
      '      -    print(1)',
      '      +    print(2)?',
      '  - path  x.py',
      '    diff',
      'settings',
      'environment',
      '  python',
      '  packages',
      '    - name    requests',
      '      before',
      '      after   2.0',
    ]);
  });

  test('is written to a file', async () => {
    answers['GET /api/v1/system/config'] = { format: 'orchestrator-configuration' };
    const { out } = await orchestrator('configuration', 'export', '--file', 'saved.json');
    expect(out).toBe(join(folder, 'saved.json'));
    expect(await readFile(out, 'utf8')).toBe('{"format":"orchestrator-configuration"}');
  });

  test('is written to the target of a symbolic link, and directly to a pipe', async () => {
    answers['GET /api/v1/system/config'] = { format: 'orchestrator-configuration' };
    const exported = '{"format":"orchestrator-configuration"}';
    const at = (name: string) => join(folder, name);
    const [target, link, pipe] = [at('target'), at('link'), at('pipe')];
    await writeFile(target, 'before', { mode: 0o640 });
    await symlink(target, link);
    await orchestrator('configuration', 'export', '--file', 'link');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, 'utf8')).toBe(exported);
    expect((await lstat(target)).mode & 0o777).toBe(0o640);
    await promisify(execFile)('mkfifo', [pipe]);
    const received = readFile(pipe, 'utf8');
    await orchestrator('configuration', 'export', '--file', 'pipe');
    expect(await received).toBe(exported);
    expect((await lstat(pipe)).isFIFO()).toBe(true);
  });

  test('to any other API path is printed by the api command', async () => {
    answers['POST /api/v9/new'] = { made: true };
    const { out } = await orchestrator('api', 'POST', '/api/v9/new', '--body', '-');
    expect([out, sent[0]?.body]).toEqual(['{"made":true}', 'hush\n']);
  });
});

test('the help of a resource lists its commands', async () => {
  const { code, out } = await orchestrator('help', 'webhooks');
  expect(code).toBe(0);
  expect(out).toMatch(/^ {2}webhooks rotate +/m);
  expect((await orchestrator('scripts', '--help')).out).toContain('scripts purge');
});
