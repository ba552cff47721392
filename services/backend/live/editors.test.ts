import { createLogger } from '#services/shared/logger.ts';
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { systemIds } from '#infra/system/ids.ts';
import { MemoryBus } from '#infra/testing/memory-bus.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FrameLog } from '../testing/frame-log.ts';
import { apiToken, groups, nowhere, refusals, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';
import { EditorHub, type EditorSubscriber } from './editor-hub.ts';

const file = { scriptId: mustParse(parseScriptId, nowhere), path: 'main.py' };
const groupId = groups.custom;

describe('two backends that share a bus', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  function setUp() {
    const bus = new MemoryBus();
    let now = new Date('2026-11-28T09:00:00Z');
    const found = new Map<string, string>([[file.scriptId, groupId]]);
    const hub = (): EditorHub => {
      const one = new EditorHub({
        bus,
        ids: systemIds,
        clock: { now: () => now },
        logger: createLogger('test', 'silent'),
        findGroups: () => Promise.resolve(found),
      });
      closing.push(() => one.close());
      return one;
    };
    const pass = (seconds: number) => {
      now = new Date(now.getTime() + seconds * 1000);
    };
    return { bus, hub, pass, found };
  }

  /** Creates a subscriber that records the names in each frame. */
  function subscriber(name?: string): EditorSubscriber & { readonly last: () => string } {
    let last = '';
    return {
      file,
      editor: name === undefined ? undefined : { userId: name, name },
      groupId,
      send: (frame) => {
        const { editors } = JSON.parse(frame) as { editors: { name: string }[] };
        last = editors.map((one) => one.name).join(', ');
      },
      last: () => last,
    };
  }
  /** Resolves after all messages on the bus have been delivered. */
  const delivered = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('send all editors of the file to new and existing subscribers', async () => {
    const { hub } = setUp();
    const [here, there] = [hub(), hub()];
    const [ada, grace, reader] = [subscriber('ada'), subscriber('grace'), subscriber()];
    here.add(ada);
    expect(ada.last()).toBe('ada');
    there.add(grace);
    here.add(reader);
    await delivered();
    for (const one of [ada, grace, reader]) expect(one.last()).toBe('ada, grace');
    here.remove(ada);
    await delivered();
    expect(reader.last()).toBe('grace');
    expect(grace.last()).toBe('grace');
  });

  test('list a user with several sockets once, and other files separately', async () => {
    const { hub } = setUp();
    const [here, there] = [hub(), hub()];
    const [ada, again] = [subscriber('ada'), subscriber('ada')];
    const elsewhere = { ...subscriber('grace'), file: { ...file, path: 'rows.py' } };
    here.add(ada);
    there.add(again);
    there.add(elsewhere);
    await delivered();
    expect(ada.last()).toBe('ada');
    here.remove(ada);
    await delivered();
    expect(again.last()).toBe('ada');
  });

  test('forget the editors of a backend that no longer announces them', async () => {
    const { bus, hub, pass } = setUp();
    const here = hub();
    const ada = subscriber('ada');
    here.add(ada);
    const editors = [{ userId: 'grace', name: 'grace' }];
    bus.publish({ topic: 'editors', ...file, backend: 'lost', editors, asks: false });
    await delivered();
    pass(29);
    await here.renew();
    expect(ada.last()).toBe('ada, grace');
    pass(1);
    await here.renew();
    expect(ada.last()).toBe('ada');
  });

  test('announce at most 20 users of a file', async () => {
    const { hub } = setUp();
    const [here, there] = [hub(), hub()];
    const reader = subscriber();
    there.add(reader);
    for (let index = 10; index < 40; index += 1) here.add(subscriber(`user ${index}`));
    await delivered();
    expect(reader.last().split(', ')).toHaveLength(20);
  });

  test('update the group of their subscribers after a script moves to another group', async () => {
    const { hub, found } = setUp();
    const here = hub();
    const ada = subscriber('ada');
    here.add(ada);
    found.set(file.scriptId, groups.bots);
    await here.renew();
    expect(ada.groupId).toBe(groups.bots);
  });
});

describe('a file socket', () => {
  let platform: TestBackend;
  let developer: TestClient;
  let scriptId: string;
  const opened: WebSocket[] = [];
  beforeAll(async () => {
    platform = await startTestBackend();
    developer = await someone(platform, { role: 'developer', groupIds: [groupId] });
    ({ id: scriptId } = await script(developer));
  });
  afterAll(async () => {
    for (const socket of opened) socket.terminate();
    await platform.close();
  });

  function open(client: TestClient, id = scriptId, query = '?path=main.py'): FrameLog {
    const address = `${platform.origin.replace('http', 'ws')}/ws/scripts/${id}/editors${query}`;
    const socket = new WebSocket(address, ['orch.v1', `orch.bearer.${client.token}`]);
    opened.push(socket);
    return new FrameLog(socket);
  }
  const firstOf = async (frames: FrameLog) => {
    const first = frames.until((all) => all.frames.length > 0);
    return await Promise.race([first.then(() => frames.frames[0]), frames.closed]);
  };

  test('lists connected users who have the right to change the file', async () => {
    const me = (await developer.get('/api/v1/auth/me')).json as { id: string; name: string };
    const editors = [{ user_id: me.id, name: me.name }];
    const frames = open(developer);
    expect(await firstOf(frames)).toEqual({ type: 'editors', editors });
    const operator = await someone(platform, { role: 'operator', groupIds: [groupId] });
    const reader = open(operator);
    expect(await firstOf(reader)).toEqual({ type: 'editors', editors });
    frames.socket.close();
    await reader.until((all) => all.frames.some((one) => one.editors?.length === 0));
  });

  test('requires the rights to read the file', async () => {
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groupId] });
    const outsider = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    const { client: reading } = await apiToken(developer, ['scripts:read']);
    const { client: running } = await apiToken(developer, ['runs:write']);
    expect(await firstOf(open(viewer))).toBe(4403);
    expect(await firstOf(open(running))).toBe(4403);
    expect(await firstOf(open(outsider))).toBe(4404);
    expect(await firstOf(open(developer, nowhere))).toBe(4404);
    expect(await firstOf(open(developer, 'x'))).toBe(4404);
    expect(await firstOf(open(reading))).toMatchObject({ type: 'editors' });
    expect(await refusals(platform)).toContainEqual(
      expect.objectContaining({ operation: 'GET /ws/scripts/{script_id}/editors' }),
    );
  });

  test("closes when its user leaves the script's group", async () => {
    const person = await someone(platform, { role: 'developer', groupIds: [groupId] });
    const frames = open(person);
    await firstOf(frames);
    const me = (await person.get('/api/v1/auth/me')).json as { id: string };
    await platform.admin.patch(`/api/v1/users/${me.id}`, { group_ids: [groups.bots] });
    expect(await frames.closed).toBe(4404);
  });

  test.each(['', '?path=', '?path=/etc/passwd', '?path=../main.py'])(
    'refuses the invalid path %s',
    async (query) => {
      await expect(open(developer, scriptId, query).closed).rejects.toThrow('400');
    },
  );
});
