// Long because each tool is used.
/** Tests the MCP server of the running product with the official client packages. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startGitServer } from '#infra/git/testing/server.ts';
import { Product } from '#services/minimal/testing/product.ts';
import { gitProgram } from '#infra/git/testing/programs.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { tools } from './tools/registry.ts';

let product: Product;
let token: string;
beforeAll(async () => {
  product = await Product.start({ variables: { ORCH_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } });
  token = await tokenWith(['*']);
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

async function tokenWith(scopes: readonly string[]): Promise<string> {
  const body = { name: `mcp ${scopes.join(' ')}`, scopes };
  return (await product.call<{ token: string }>('POST', '/auth/tokens', body)).token;
}

type Answer = Readonly<Record<string, unknown>>;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

async function connect(as = token): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  open.push(client);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(product.mcpUrl), {
      requestInit: { headers: { Authorization: `Bearer ${as}` } },
    }),
  );
  return client;
}

/** Calls a tool that must succeed. */
async function use(client: Client, name: string, given: object): Promise<Answer> {
  const answer = await client.callTool({ name, arguments: given as Record<string, unknown> });
  expect(answer, name).not.toMatchObject({ isError: true });
  return answer.structuredContent as Answer;
}

/** Sends a request without an MCP client. */
function ask(headers: Record<string, string>, body?: string): Promise<Response> {
  return fetch(product.mcpUrl, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Accept: 'application/json, text/event-stream', ...headers },
    ...(body !== undefined && { body }),
  });
}

const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('a client of the current protocol', () => {
  test('receives a description of every tool with its effects', async () => {
    const client = await connect();
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    for (const tool of listed.tools) {
      expect(tool, tool.name).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: expect.any(Boolean), openWorldHint: false },
      });
    }
  });

  test('creates, edits, runs and inspects a script, and reads an old version', async () => {
    const client = await connect();
    const { script } = await use(client, 'create_script', { name: 'By a model' });
    const { id: script_id } = script as { id: string };
    const wrote = await use(client, 'write_file', {
      script_id,
      path: 'main.py',
      text: 'import sys\nprint("one")\nprint("two")\nsys.exit(3)\n',
    });
    expect(wrote).toMatchObject({ path: 'main.py', script_version: 2 });
    const read = await use(client, 'read_file', {
      script_id,
      path: 'main.py',
      from_line: 2,
      max_lines: 1,
    });
    expect(read).toMatchObject({ text: 'print("one")', total_lines: 5 });

    const progress: unknown[] = [];
    const ran = (await client.callTool(
      { name: 'run_script', arguments: { script_id, params: { a: 1 }, wait_seconds: 60 } },
      { onprogress: (one) => progress.push(one.message) },
    )) as { structuredContent: { run: { run_id: string } } };
    expect(ran.structuredContent).toMatchObject({
      finished: true,
      run: { status: 'failed', failure_reason: 'exit_code', exit_code: 3, trigger_type: 'mcp' },
      log_tail: expect.arrayContaining([expect.objectContaining({ text: 'two' })]),
    });
    expect(progress).toContain('The run is queued.');
    const { run_id } = ran.structuredContent.run;
    expect(await use(client, 'read_logs', { run_id, grep: 'TWO' })).toMatchObject({
      items: [{ stream: 'stdout', text: 'two' }],
    });
    expect(await use(client, 'wait_for_run', { run_id })).toMatchObject({ finished: true });
    expect(await use(client, 'get_run', { run_id })).toMatchObject({ run: { run_id } });
    expect(await use(client, 'list_runs', { script_id })).toMatchObject({ items: [{ run_id }] });
    const { items: reasons, error } = await use(client, 'explain_run', { run_id });
    expect(error).toMatchObject({
      type: 'SystemExit',
      message: 'exit code 3',
      frame: { file: 'main.py', line: 4, code: 'sys.exit(3)', own: true },
    });
    expect(reasons).toMatchObject([
      { decision: 'queued' },
      { decision: 'started' },
      { decision: 'ended' },
    ]);
    expect(await use(client, 'compare_run', { run_id })).toMatchObject({
      base_run_id: null,
      to: 2,
    });
    const log = await client.readResource({ uri: `orch://runs/${run_id}/log` });
    expect(log.contents).toMatchObject([{ text: expect.stringContaining('one\ntwo') }]);

    const { items: history } = await use(client, 'script_history', { script_id });
    expect(history).toHaveLength(2);
    const { event_position } = (history as readonly { event_position: number }[])[1]!;
    const then = await use(client, 'read_file', {
      script_id,
      path: 'main.py',
      at: String(event_position),
    });
    expect(then).not.toMatchObject({ text: expect.stringContaining('sys.exit(3)') });
    expect(await use(client, 'get_script', { script_id })).toMatchObject({
      script: { name: 'By a model', version: 2 },
    });
    expect(await use(client, 'find_scripts', { query: 'a model' })).toMatchObject({
      items: [{ id: script_id }],
    });
    await use(client, 'write_file', { script_id, path: 'lib/help.py', text: 'X = 1\n' });
    expect(await use(client, 'list_files', { script_id })).toMatchObject({
      items: [{ path: 'lib/help.py' }, { path: 'main.py' }],
    });
    const file = await client.readResource({
      uri: `orch://scripts/${script_id}/files/lib/help.py`,
    });
    expect(file.contents).toMatchObject([{ text: 'X = 1\n' }]);
    await use(client, 'delete_file', { script_id, path: 'lib/help.py' });
  });

  test('finds an exception in the explanation of a run, the list of runs and the error groups', async () => {
    const client = await connect();
    const script_id = await product.script('Raises', {
      'main.py': 'def convert(text):\n    return int(text)\n\nconvert("n/a")\n',
    });
    const { run } = await use(client, 'run_script', { script_id, wait_seconds: 60 });
    const { run_id, error_group_id } = run as { run_id: string; error_group_id: string };
    const raised = {
      type: 'ValueError',
      message: "invalid literal for int() with base 10: 'n/a'",
    };
    expect(await use(client, 'explain_run', { run_id })).toMatchObject({
      error: {
        ...raised,
        frame: { file: 'main.py', line: 2, function: 'convert', code: 'return int(text)' },
      },
    });
    const listed = await use(client, 'list_runs', { script_id });
    expect(listed).toMatchObject({
      items: [{ run_id, error: `${raised.type}: ${raised.message}`, error_group_id }],
    });
    expect(JSON.stringify(listed).length).toBeLessThan(800);
    expect(await use(client, 'list_errors', { script_id, status: 'open' })).toMatchObject({
      items: [{ id: error_group_id, ...raised, count: 1, last_run_id: run_id, status: 'open' }],
    });
    expect(await use(client, 'list_errors', { script_id, query: 'KeyError' })).toMatchObject({
      items: [],
    });
  });

  test('receives at most 20 runs unless it sets a limit', async () => {
    const client = await connect();
    const script_id = await product.script('Often', { 'main.py': '' });
    const path = `/scripts/${script_id}`;
    for (let count = 0; count < 21; count += 1) {
      await product.call('POST', `/runs${path}/run`, { when_busy: 'queue' });
    }
    const { items, next_cursor } = await use(client, 'list_runs', { script_id });
    expect(items).toHaveLength(20);
    expect(await use(client, 'list_runs', { script_id, cursor: next_cursor })).toMatchObject({
      items: [expect.anything()],
      next_cursor: null,
    });
    expect((await use(client, 'list_runs', { script_id, limit: 21 }))['items']).toHaveLength(21);
  });

  test('previews, creates, changes and deletes a schedule', async () => {
    const client = await connect();
    const script_id = await product.script('On time', { 'main.py': 'print(1)' });
    const times = {
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      start_at: '2027-03-27T12:00:00Z',
    };
    const preview = { script_id, ...times, count: 1 };
    expect(await use(client, 'preview_schedule', preview)).toMatchObject({
      items: [
        {
          local: '2027-03-28T03:30:00+02:00',
          note: expect.any(String),
          overlap: null,
          together: [],
        },
      ],
    });
    const { schedule } = await use(client, 'create_schedule', { script_id, ...times });
    const { id: schedule_id } = schedule as { id: string };
    expect(await use(client, 'change_schedule', { schedule_id, enabled: false })).toMatchObject({
      schedule: { enabled: false },
    });
    expect(await use(client, 'list_schedules', { script_id })).toMatchObject({
      items: [{ id: schedule_id }],
    });
    await use(client, 'delete_schedule', { schedule_id });
    expect(await use(client, 'list_schedules', { script_id })).toMatchObject({ items: [] });
  });

  describeWith(gitProgram, 'for a Git repository', () => {
    test('previews and applies the newest commit', async () => {
      const server = await startGitServer();
      open.push(server);
      const repository = await server.repository('jobs');
      await repository.commit({ 'scripts/from-git/main.py': 'print(1)' });
      const wanted = { name: 'Jobs', url: repository.url, poll_seconds: null };
      const { id: repository_id } = await product.call<{ id: string }>(
        'POST',
        '/repositories',
        wanted,
      );
      const client = await connect();
      const first = { repository_id, dry_run: false };
      await use(client, 'sync_repository', first);
      const hash = await repository.commit({ 'scripts/from-git/main.py': 'print(2)' });
      const plan = await use(client, 'sync_repository', { ...first, dry_run: true });
      expect(plan).toMatchObject({ dry_run: true, commit: { hash }, counts: { change: 1 } });
      await use(client, 'sync_repository', first);
      expect(await use(client, 'list_repositories', {})).toMatchObject({
        items: [{ id: repository_id, last_commit: { hash, changed: 1 }, drift: [], error: null }],
      });
      await repository.commit({ 'scripts/from-git/script.json': '{' });
      const refused = await client.callTool({ name: 'sync_repository', arguments: first });
      expect(refused).toMatchObject({
        isError: true,
        content: [
          { text: expect.stringMatching(/^sync_failed: .*scripts\/from-git\/script\.json/) },
        ],
      });
    });
  });

  test('stops a running run', async () => {
    const client = await connect();
    const script_id = await product.script('Long', { 'main.py': 'import time\ntime.sleep(600)' });
    const { run, finished } = await use(client, 'run_script', { script_id, wait_seconds: 0 });
    expect(finished).toBe(false);
    const { run_id } = run as { run_id: string };
    await use(client, 'stop_run', { run_id });
    expect(await use(client, 'wait_for_run', { run_id, wait_seconds: 60 })).toMatchObject({
      run: { status: 'stopped' },
    });
  });

  test('returns a refusal as a tool result with its reason', async () => {
    const client = await connect(await tokenWith(['scripts:read']));
    const refused = async (name: string, given: Record<string, unknown>) =>
      await client.callTool({ name, arguments: given });
    expect(await refused('create_script', { name: 'x' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('scripts:write') }],
    });
    expect(await refused('get_script', { script_id: 'no/such' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^not_found/) }],
    });
    expect(await refused('get_script', { script_id: 7 })).toMatchObject({ isError: true });
    expect(await refused('get_script', { script: 'x' })).toMatchObject({ isError: true });
  });
});

test('a client that uses the previous SDK packages can list and call tools', async () => {
  const client = new OldClient({ name: 'old', version: '1' });
  open.push(client);
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new OldTransport(new URL(product.mcpUrl), { requestInit: { headers } }));
  expect((await client.listTools()).tools).toHaveLength(tools.length);
  const answer = await client.callTool({ name: 'find_scripts', arguments: { limit: 1 } });
  expect(answer.structuredContent).toMatchObject({ items: [expect.anything()] });
});

describe('the MCP server over HTTP', () => {
  test('returns 406 for a plain GET before authentication', async () => {
    const answer = await fetch(product.mcpUrl);
    expect(answer.status).toBe(406);
  });

  test('reveals nothing to a request without a valid token', async () => {
    const type = { 'Content-Type': 'application/json' };
    for (const headers of [{}, { Authorization: 'Bearer nonsense' }]) {
      const answer = await ask({ ...type, ...headers }, listTools);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    }
  });

  test('refuses a page of another origin even with a valid token', async () => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const foreign = await ask({ ...headers, Origin: 'https://evil.example' }, listTools);
    expect(foreign.status).toBe(403);
    expect((await ask({ ...headers, Origin: 'http://localhost:3000' }, listTools)).status).toBe(
      200,
    );
  });

  test('refuses an incomplete message, and serves the next one', async () => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    expect((await ask(headers, '{"jsonrpc":')).status).toBe(400);
    expect((await ask(headers, listTools)).status).toBe(200);
  });

  // A leak of compiled schemas would exhaust the memory within this number of requests.
  test('serves many requests without leaking memory', async () => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    for (let request = 0; request < 400; request += 1) {
      expect((await ask(headers, listTools)).status, `request ${request}`).toBe(200);
    }
  });

  test('is served at the address that the backend returns', async () => {
    expect(await product.call('GET', '/mcp/info')).toMatchObject({
      status: 'up',
      url: product.mcpUrl,
    });
  });
});
