// Long because all tests share one backend.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mustParse, parseGroupId, parseScriptId } from '#domain/kernel/ids.ts';
import { saveProgress } from '#infra/postgres/logs/run-reports.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { RefusalRecorder } from '#services/shared/refusals.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FrameLog, type Frame } from '../testing/frame-log.ts';
import {
  asRuntime,
  finishRun,
  groups,
  notice,
  refusals,
  run,
  schedule,
  script,
  someone,
  startRun,
  webhook,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';
import { WebSockets } from './web-sockets.ts';

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

function open(client: TestClient, origin = platform.origin): WebSocket {
  const offered = ['orch.v1', `orch.bearer.${client.token}`];
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws`, offered);
  opened.push(socket);
  return socket;
}

/** Follows all resources, and waits for the first frame. */
async function follow(client = developer): Promise<FrameLog> {
  // A change of group that becomes visible only later would cause another `resync`.
  await eventsVisible(platform.pool);
  const frames = new FrameLog(open(client));
  await frames.until((all) => all.frames.length > 0);
  expect(frames.frames[0]).toMatchObject({ type: 'resync', position: expect.any(Number) });
  return frames;
}

const statuses = (frames: FrameLog, runId: string) =>
  frames.frames.filter((one) => one.run?.run_id === runId).map((one) => one.run?.status);
const aboutScript = (id: string) => (one: Frame) => one.script?.id === id;
const isResync = (one: Frame) => one.type === 'resync';

/** Creates a resource in a visible group, and waits for its frame, which follows all earlier frames. */
async function untilLater(frames: FrameLog, groupId: string = groups.custom): Promise<void> {
  const { id } = await script(platform.admin, { group_id: groupId });
  await frames.until((all) => all.frames.some(aboutScript(id)));
}

async function inGroup(groupId: string, role: 'viewer' | 'operator' = 'operator') {
  const client = await someone(platform, { role, groupIds: [groupId] });
  const { id } = (await client.get('/api/v1/auth/me')).json as { id: string };
  const change = (set: string) =>
    platform.pool.query(`UPDATE users SET ${set} WHERE user_id = $1`, [id]);
  return { client, change };
}

describe('a subscriber of all events', () => {
  test('receives each status change of a run in API format', async () => {
    const { id } = await script(developer);
    const frames = await follow();
    const runId = await run(developer, id, { params: { limit: 3 } });
    await frames.until((all) => statuses(all, runId).includes('queued'));
    const fence = await startRun(platform, runId);
    await frames.until((all) => statuses(all, runId).includes('running'));
    await finishRun(platform, runId, fence);
    await frames.until((all) => statuses(all, runId).includes('success'));
    const last = frames.frames.findLast((one) => one.type === 'status');
    expect(last?.run).toEqual((await developer.get(`/api/v1/runs/${runId}`)).json);
    expect(new Set(statuses(frames, runId)).size).toBe(3);
  });

  test('receives the progress only of runs in its own groups', async () => {
    const other = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    const { id } = await script(developer);
    const runId = await run(developer, id);
    await startRun(platform, runId);
    const [frames, foreign] = await Promise.all([follow(), follow(other)]);
    await saveProgress(platform.services.database, runId, { fraction: 0.5, text: 'half' });
    platform.bus.publish({ topic: 'progress', runId });
    await frames.until((all) => all.frames.some((one) => one.run_id === runId));
    const sent = frames.frames.find((one) => one.run_id === runId);
    const { progress } = (await developer.get(`/api/v1/runs/${runId}`)).json;
    expect(sent).toEqual({ type: 'progress', run_id: runId, progress });
    await untilLater(foreign, groups.bots);
    expect(foreign.frames.filter((one) => one.type === 'progress')).toEqual([]);
  });

  test('receives the creation, changes and deletion of a script', async () => {
    const frames = await follow();
    const { id } = await script(developer, { name: 'First' });
    await frames.until((all) => all.frames.some(aboutScript(id)));
    await developer.patch(`/api/v1/scripts/${id}`, { name: 'Second' });
    await frames.until((all) => all.frames.some((one) => one.script?.name === 'Second'));
    const last = frames.frames.findLast(aboutScript(id));
    expect(last?.script).toEqual((await developer.get(`/api/v1/scripts/${id}`)).json);
    await developer.delete(`/api/v1/scripts/${id}`);
    await frames.until((all) => all.frames.at(-1)?.type === 'script_deleted');
    expect(frames.frames.at(-1)).toEqual({ type: 'script_deleted', script_id: id });
  });

  test('receives the names of changed parts of a script, if permitted to read them', async () => {
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    const { id } = await script(developer);
    const { id: foreign } = await script(platform.admin, { group_id: groups.bots });
    const [author, reader] = await Promise.all([follow(), follow(viewer)]);
    const scheduleId = await schedule(developer, id);
    const { id: webhookId } = await webhook(developer, id);
    await developer.put(`/api/v1/scripts/${id}/secrets/TOKEN`, { value: 'a value' });
    await developer.delete(`/api/v1/webhooks/${webhookId}`);
    const noticeId = await notice(platform, id);
    await notice(platform, foreign);
    await untilLater(author);
    await untilLater(reader);
    const named = ({ frames }: FrameLog) =>
      new Set(frames.filter((one) => one.type === 'changed').map((one) => JSON.stringify(one)));
    const frame = (resource: string, of: string) =>
      JSON.stringify({ type: 'changed', resource, id: of, script_id: id });
    const forAll = [frame('schedule', scheduleId), frame('notification', noticeId)];
    expect(named(reader)).toEqual(new Set(forAll));
    expect(named(author)).toEqual(
      new Set([...forAll, frame('webhook', webhookId), frame('secrets', id)]),
    );
  });

  test('receives fewer frames for rapid changes to a script', async () => {
    const { id } = await script(developer);
    const frames = await follow();
    const changes = Array.from({ length: 60 }, (_, number) =>
      developer.patch(`/api/v1/scripts/${id}`, { description: `${number}` }),
    );
    await Promise.all(changes);
    await untilLater(frames);
    expect(frames.frames.filter(aboutScript(id)).length).toBeLessThan(60);
    const { description } = (await developer.get(`/api/v1/scripts/${id}`)).json;
    expect(frames.frames.findLast(aboutScript(id))?.script?.description).toBe(description);
  });

  test('receives all changes even if every bus message is lost', async () => {
    const frames = await follow();
    const publish = platform.bus.publish.bind(platform.bus);
    platform.bus.publish = () => undefined;
    await untilLater(frames);
    platform.bus.publish = publish;
  });

  test('receives all changes even if an older transaction commits late', async () => {
    const frames = await follow();
    const { id } = await script(developer);
    const other = await platform.pool.connect();
    await other.query('BEGIN');
    await other.query('SELECT pg_current_xact_id()');
    const runId = await run(developer, id);
    await other.query('COMMIT');
    other.release();
    await frames.until((all) => statuses(all, runId).includes('queued'));
  });

  test('receives the position to resume from after reconnecting', async () => {
    const first = await follow();
    await untilLater(first);
    first.socket.close();
    const { id } = await script(developer);
    const again = await follow();
    const from = again.frames[0]?.position ?? 0;
    const answer = await developer.get(`/api/v1/scripts/${id}`, {
      headers: { 'Orch-Min-Position': String(from) },
    });
    expect(answer.status).toBe(200);
  });
});

describe('resources of other groups', () => {
  test('cause no frames', async () => {
    const frames = await follow();
    const foreign = await script(platform.admin, { group_id: groups.bots });
    const runId = await run(platform.admin, foreign.id);
    await platform.admin.delete(`/api/v1/scripts/${foreign.id}`);
    await untilLater(frames);
    expect(JSON.stringify(frames.frames)).not.toContain(foreign.id);
    expect(statuses(frames, runId)).toEqual([]);
  });

  test('are visible to an administrator', async () => {
    const frames = await follow(platform.admin);
    const foreign = await script(platform.admin, { group_id: groups.bots });
    await frames.until((all) => all.frames.some(aboutScript(foreign.id)));
  });

  test('cause a reload for users who could see a script before its move', async () => {
    const { id } = await script(developer);
    const frames = await follow();
    await platform.admin.patch(`/api/v1/scripts/${id}`, { group_id: groups.bots, name: 'Hidden' });
    await frames.until((all) => all.frames.filter(isResync).length === 2);
    await untilLater(frames);
    expect(JSON.stringify(frames.frames)).not.toContain('Hidden');
  });
});

describe('groups', () => {
  test('cause a reload for all subscribers when created or changed', async () => {
    const frames = await follow();
    await asRuntime(platform, {
      type: 'CreateGroup',
      groupId: mustParse(parseGroupId, platform.services.ids.next()),
      name: 'Another',
      color: '#123456',
      icon: 'box',
    });
    await frames.until((all) => all.frames.filter(isResync).length === 2);
  });
});

describe('a subscriber whose permissions change', () => {
  test('reloads after a change of groups, and sees only the new group', async () => {
    const { client, change } = await inGroup(groups.custom);
    const frames = await follow(client);
    await change(`group_ids = '["${groups.bots}"]'`);
    const { id } = await script(developer);
    await frames.until((all) => all.frames.filter(isResync).length === 2);
    await untilLater(frames, groups.bots);
    expect(frames.frames.some(aboutScript(id))).toBe(false);
  });

  test('is closed with 4401 after a sign-out or when the account is disabled', async () => {
    const leaving = await inGroup(groups.custom, 'viewer');
    const left = await follow(leaving.client);
    await leaving.client.post('/api/v1/auth/logout');
    expect(await left.closed).toBe(4401);
    const disabled = await inGroup(groups.custom, 'viewer');
    const frames = await follow(disabled.client);
    await disabled.change('disabled = true');
    const { id } = await script(developer);
    expect(await frames.closed).toBe(4401);
    expect(frames.frames.some(aboutScript(id))).toBe(false);
  });

  test('is disconnected with 4403 when its new role does not allow access to the feed', async () => {
    const { client, change } = await inGroup(groups.custom);
    const frames = await follow(client);
    await change(`role = 'guest'`);
    expect(await frames.closed).toBe(4403);
    expect(await new FrameLog(open(client)).closed).toBe(4403);
  });

  test('is refused with 4401 and an audit entry when not signed in', async () => {
    const frames = new FrameLog(open(platform.anonymous));
    expect(await frames.closed).toBe(4401);
    expect(await refusals(platform)).toContainEqual(
      expect.objectContaining({ operation: 'GET /ws', resource: null, code: 'unauthenticated' }),
    );
  });
});

/** Creates scripts as fast as possible. */
async function manyScripts(count: number, longBytes: number): Promise<void> {
  const environment = longBytes === 0 ? {} : { LONG: 'x'.repeat(longBytes) };
  const made = Array.from({ length: count }, () =>
    asRuntime(platform, {
      type: 'CreateScript',
      scriptId: mustParse(parseScriptId, platform.services.ids.next()),
      name: 'One of many',
      description: '',
      groupId: mustParse(parseGroupId, groups.custom),
      settings: { ...defaultSettings, environment },
      files: [],
    }),
  );
  await Promise.all(made);
}

describe('a client that does not read', () => {
  test('must reload after more changes than its buffer holds, and then receives new changes', async () => {
    const frames = await follow();
    frames.socket.pause();
    // Sends more data than the network buffers can hold.
    await manyScripts(200, 60_000);
    await manyScripts(1100, 0);
    const witness = await follow();
    await untilLater(witness);
    frames.socket.resume();
    await frames.until((all) => all.frames.filter(isResync).length === 2);
    await untilLater(frames);
    expect(frames.frames.length).toBeLessThan(300);
  });
});

describe('an idle connection', () => {
  test('receives heartbeats', async () => {
    const { services } = platform;
    const recorder = new RefusalRecorder(services);
    const sockets = new WebSockets(services, recorder, { heartbeatMs: 20 });
    const server = createServer();
    sockets.attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const frames = new FrameLog(open(developer, `http://127.0.0.1:${port}`));
    await frames.until((all) => all.frames.some((one) => one.type === 'heartbeat'));
    await Promise.all([sockets.close(), recorder.close()]);
    expect(await frames.closed).toBe(1001);
    server.close();
  });
});
