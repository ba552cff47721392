import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { sessionHeaders } from '../testing/browser-session.ts';
import { FrameLog } from '../testing/frame-log.ts';
import {
  finishRun,
  groups,
  nowhere,
  refusals,
  run,
  script,
  someone,
  startRun,
  writeLines,
} from '../testing/people.ts';
import { administrator, startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
const opened: WebSocket[] = [];
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate();
});
afterAll(() => platform.close());

interface Opening {
  readonly token?: string | undefined;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

function open(runId: string, { token, protocols, headers = {}, query = '' }: Opening): WebSocket {
  const address = `${platform.origin.replace('http', 'ws')}/ws/runs/${runId}${query}`;
  const offered = protocols ?? (token === undefined ? [] : ['orch.v1', `orch.bearer.${token}`]);
  const socket = new WebSocket(address, [...offered], { headers });
  opened.push(socket);
  return socket;
}

function follow(runId: string, opening: Opening = { token: developer.token }): FrameLog {
  return new FrameLog(open(runId, opening));
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number];
  return code;
}

async function running(): Promise<{ runId: string; finish: () => Promise<void> }> {
  const runId = await run(developer, (await script(developer)).id);
  const fence = await startRun(platform, runId);
  return { runId, finish: () => finishRun(platform, runId, fence) };
}

const texts = (count: number, size = 1) =>
  Array.from({ length: count }, (_, index) => `${index} ${'x'.repeat(size)}`);
const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('a followed run', () => {
  test('sends earlier and later lines once, then the end', async () => {
    const { runId, finish } = await running();
    await writeLines(platform, runId, 1, texts(3));
    const frames = follow(runId);
    await frames.until((all) => all.seqs.length === 3);
    await writeLines(platform, runId, 4, texts(2));
    await frames.until((all) => all.seqs.length === 5);
    await finish();
    expect(await frames.closed).toBe(1000);
    expect(frames.seqs).toEqual(upTo(5));
    expect(frames.frames.at(0)).toMatchObject({ type: 'status' });
    expect(frames.frames.at(-2)).toMatchObject({
      type: 'status',
      run: { run_id: runId, status: 'success', exit_code: 0 },
    });
    expect(frames.frames.at(-1)).toEqual({ type: 'end', status: 'success' });
  });

  test('sends all lines, then the end, if it has already ended', async () => {
    const { runId, finish } = await running();
    for (let first = 1; first < 200; first += 10) {
      await writeLines(platform, runId, first, texts(10));
    }
    await finish();
    const frames = follow(runId);
    expect(await frames.closed).toBe(1000);
    expect(frames.seqs).toEqual(upTo(200));
  });

  test('omits the lines before the start position, even within a chunk', async () => {
    const { runId, finish } = await running();
    await writeLines(platform, runId, 1, texts(10));
    await finish();
    const frames = follow(runId, { token: developer.token, query: '?from_seq=4' });
    await frames.closed;
    expect(frames.seqs).toEqual(upTo(10, 4));
  });

  test('sends all lines even if every bus message is lost', async () => {
    const { runId } = await running();
    const frames = follow(runId);
    await frames.until((all) => all.frames.length === 1);
    const publish = platform.bus.publish.bind(platform.bus);
    platform.bus.publish = () => undefined;
    await writeLines(platform, runId, 1, texts(2));
    await frames.until((all) => all.seqs.length === 2);
    await platform.admin.post(`/api/v1/runs/${runId}/stop`);
    await frames.until((all) => all.frames.some((one) => one.run?.stop_requested === true));
    platform.bus.publish = publish;
  });

  test('sends each line once when messages are repeated, late or without lines', async () => {
    const { runId, finish } = await running();
    const frames = follow(runId);
    const say = (firstSeq: number, lastSeq: number) =>
      platform.bus.publish({ topic: 'log', runId, firstSeq, lastSeq });
    await writeLines(platform, runId, 1, texts(2));
    say(1, 2);
    await writeLines(platform, runId, 3, texts(2));
    say(3, 4);
    say(1, 2);
    await finish();
    await frames.closed;
    expect(frames.seqs).toEqual(upTo(4));
  });

  test('sends one line in place of the omitted middle of a log', async () => {
    const { runId, finish } = await running();
    await writeLines(platform, runId, 1, texts(2));
    await writeLines(platform, runId, 11, texts(2));
    await finish();
    const frames = follow(runId);
    await frames.closed;
    expect(frames.seqs).toEqual([1, 2, 3, 11, 12]);
    expect(frames.lines[2]).toMatchObject({ stream: 'system', from_seq: 3, to_seq: 10 });
  });

  test('sends each sample', async () => {
    const { runId } = await running();
    const frames = follow(runId);
    await writeLines(platform, runId, 1, texts(1));
    await frames.until((all) => all.seqs.length === 1);
    const usage = { cpuSeconds: 0.5, memoryBytes: 1024, threads: 2, processes: 1 };
    platform.bus.publish({ topic: 'sample', runId, point: { timeMs: 0, ...usage } });
    await frames.until((all) => all.frames.some((one) => one.type === 'sample'));
    expect(frames.frames.at(-1)).toEqual({
      type: 'sample',
      time: '1970-01-01T00:00:00.000Z',
      cpu_seconds: 0.5,
      memory_bytes: 1024,
      threads: 2,
      processes: 1,
    });
  });

  test('sends everything to many clients', async () => {
    const { runId, finish } = await running();
    const all = Array.from({ length: 30 }, () => follow(runId));
    for (let first = 1; first < 500; first += 20) {
      await writeLines(platform, runId, first, texts(20));
    }
    await finish();
    await Promise.all(all.map((one) => one.closed));
    for (const one of all) expect(one.seqs).toEqual(upTo(500));
  });
});

describe('a client that does not read', () => {
  test('receives the lines of a busy run later, from storage', async () => {
    const { runId, finish } = await running();
    const frames = follow(runId);
    await frames.until((all) => all.frames.length === 1);
    frames.socket.pause();
    const before = process.memoryUsage().arrayBuffers;
    for (let first = 1; first < 1600; first += 16) {
      await writeLines(platform, runId, first, texts(16, 4000));
    }
    const grownMb = (process.memoryUsage().arrayBuffers - before) / 1024 / 1024;
    expect(grownMb).toBeLessThan(20);
    await finish();
    frames.socket.resume();
    expect(await frames.closed).toBe(1000);
    expect(frames.seqs).toEqual(upTo(1600));
  });
});

describe('authentication', () => {
  test('by a token as subprotocol selects the subprotocol orch.v1', async () => {
    const { runId } = await running();
    const socket = open(runId, { token: developer.token });
    await once(socket, 'open');
    expect(socket.protocol).toBe('orch.v1');
    const alone = open(runId, { protocols: [`orch.bearer.${developer.token}`] });
    await once(alone, 'open');
  });

  test('by a token in the header is accepted', async () => {
    const { runId } = await running();
    const headers = { Authorization: `Bearer ${developer.token}` };
    await follow(runId, { headers }).until((all) => all.frames.length > 0);
  });

  test('by cookie requires a page of this origin with the session key', async () => {
    const { runId } = await running();
    const signIn = () => platform.anonymous.post('/api/v1/auth/login', administrator);
    const { Cookie, 'Orch-Session-Key': key } = sessionHeaders(await signIn());
    const { 'Orch-Session-Key': otherKey } = sessionHeaders(await signIn());
    const own = { Cookie, Origin: platform.origin };
    const protocols = ['orch.v1', `orch.session.${key}`];
    await follow(runId, { headers: own, protocols }).until((all) => all.frames.length > 0);
    const refused: readonly Opening[] = [
      { headers: own },
      { headers: own, protocols: ['orch.v1'] },
      { headers: own, protocols: ['orch.v1', `orch.session.${otherKey}`] },
      { headers: { Origin: platform.origin }, protocols },
      { headers: { Cookie }, protocols },
      { headers: { Cookie, Origin: 'https://evil.example' }, protocols },
      { headers: { Cookie, Origin: 'http://127.0.0.1:1' }, protocols },
      { headers: { ...own, 'Sec-Fetch-Site': 'same-site' }, protocols },
      { headers: { ...own, Cookie: `${Cookie.slice(0, -1)}_` }, protocols },
    ];
    for (const opening of refused) expect(await closeCode(open(runId, opening))).toBe(4401);
  });

  test('without a valid token is refused with 4401', async () => {
    const { runId } = await running();
    expect(await closeCode(open(runId, {}))).toBe(4401);
    expect(await closeCode(open(runId, { token: 'abc.def.ghi' }))).toBe(4401);
    const query = `?token=${developer.token}`;
    expect(await closeCode(open(runId, { query }))).toBe(4401);
  });

  test('is refused with 4404 for an unknown run and a run of another group', async () => {
    const other = await someone(platform, { role: 'operator', groupIds: [groups.bots] });
    const { runId } = await running();
    for (const [id, { token }] of [
      [runId, other],
      [nowhere, developer],
      ['7', developer],
    ] as const) {
      expect(await closeCode(open(id, { token }))).toBe(4404);
    }
    expect(await refusals(platform)).toContainEqual(
      expect.objectContaining({ operation: 'GET /ws/runs/{run_id}', resource: `run-${runId}` }),
    );
  });

  test('is skipped at an invalid URL', async () => {
    for (const [path, status] of [
      [`${nowhere}/x`, 404],
      [`${nowhere}?from_seq=0`, 400],
      [`${nowhere}?from_seq=x`, 400],
    ] as const) {
      const [error] = (await once(open(path, { token: developer.token }), 'error')) as [Error];
      expect(error.message).toContain(String(status));
    }
  });
});

describe('an open socket', () => {
  test('closes when its owner signs out', async () => {
    const client = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    const { runId } = await running();
    const frames = follow(runId, { token: client.token });
    await frames.until((all) => all.frames.length > 0);
    await client.post('/api/v1/auth/logout');
    expect(await frames.closed).toBe(4401);
  });

  test('closes when its owner is disabled or leaves the group', async () => {
    const { runId } = await running();
    for (const [change, code] of [
      ['disabled = true', 4401],
      [`group_ids = '[]'`, 4404],
    ] as const) {
      const client = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
      const frames = follow(runId, { token: client.token });
      await frames.until((all) => all.frames.length > 0);
      const { id } = (await client.get('/api/v1/auth/me')).json as { id: string };
      await platform.pool.query(`UPDATE users SET ${change} WHERE user_id = $1`, [id]);
      expect(await frames.closed).toBe(code);
    }
  });

  test('closes when it sends a large message', async () => {
    const { runId } = await running();
    const socket = open(runId, { token: developer.token });
    await once(socket, 'open');
    socket.send('x'.repeat(5000));
    expect([1006, 1009]).toContain(await closeCode(socket));
  });
});
