/** Tests the permissions of WebSockets for each topic, role and scope, in the user's own group and in another group.
 *  A topic requires the same right as reading the resource in the API. */
import { roles, type Role } from '#domain/kernel/actor.ts';
import { rights, scopes, scopesOf, type Right, type Scope } from '#domain/kernel/rights.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { operations } from '../operations.ts';
import { FrameLog, type Frame } from '../testing/frame-log.ts';
import { newUser } from '../testing/named-things.ts';
import {
  apiToken,
  chain,
  groups,
  notice,
  nowhere,
  run,
  schedule,
  script,
  someone,
  webhook,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

/** The right that reading the topic requires in the API. */
const topics = {
  status: 'getRun',
  script: 'getScript',
  schedule: 'getSchedule',
  webhook: 'getWebhook',
  chain: 'getChain',
  secrets: 'listSecrets',
  notification: 'listNotifications',
  user: 'getUser',
  system: 'systemInfo',
} as const;
type Topic = keyof typeof topics;
/** Topics of resources that belong to no group. */
const ofAll: readonly Topic[] = ['user', 'system'];
type Place = 'own group' | 'another group' | 'no group';

interface Reader {
  readonly name: string;
  readonly role: Role | 'auditor';
  /** The scope of the reader's API token; undefined for a sign-in. */
  readonly scope?: Scope;
}

const readers: readonly Reader[] = [
  ...[...roles, 'auditor' as const].map((role) => ({ name: role, role })),
  ...scopes.map((scope) => ({
    name: `administrator with ${scope}`,
    role: 'administrator' as const,
    scope,
  })),
  ...scopes.map((scope) => ({
    name: `developer with ${scope}`,
    role: 'developer' as const,
    scope,
  })),
];

const rightOf = (topic: Topic): Right => {
  const found = operations.find((one) => one.operationId === topics[topic]);
  if (found === undefined || typeof found.access === 'string') throw new Error(`no ${topic}`);
  return found.access.right;
};

function holds({ role, scope }: Reader, right: Right): boolean {
  const holders: readonly string[] = rights[right];
  const givers: readonly Scope[] = scopesOf[right];
  const byRole =
    holders.includes(role === 'auditor' ? 'viewer' : role) ||
    (role === 'auditor' && right === 'audit.read');
  return byRole && (scope === undefined || givers.includes(scope));
}

const mayFollow = (reader: Reader) => holds(reader, 'runs.read') && holds(reader, 'scripts.list');
const sees = ({ role }: Reader, place: Place) =>
  role === 'administrator' || place !== 'another group';

let platform: TestBackend;
const clients = new Map<string, TestClient>();
const opened: WebSocket[] = [];
beforeAll(async () => {
  platform = await startTestBackend();
  for (const reader of readers) clients.set(reader.name, await clientOf(reader));
});
afterAll(async () => {
  for (const socket of opened) socket.terminate();
  await platform.close();
});

async function clientOf({ role, scope }: Reader): Promise<TestClient> {
  const wanted = { role: role === 'auditor' ? 'viewer' : role, groupIds: [groups.custom] } as const;
  const person = await someone(platform, { ...wanted, canAudit: role === 'auditor' });
  if (scope === undefined) return person;
  // Creates the token while the user is an administrator, because a token cannot have a scope that its owner's role
  // does not permit.
  if (role === 'administrator') return (await apiToken(person, [scope])).client;
  const { id } = (await person.get('/api/v1/auth/me')).json as { id: string };
  await platform.admin.patch(`/api/v1/users/${id}`, { role: 'administrator' });
  const { client } = await apiToken(person, [scope]);
  await platform.admin.patch(`/api/v1/users/${id}`, { role });
  return client;
}

function open(client: TestClient, path = ''): FrameLog {
  const offered = ['orch.v1', `orch.bearer.${client.token}`];
  const socket = new WebSocket(`${platform.origin.replace('http', 'ws')}/ws${path}`, offered);
  opened.push(socket);
  return new FrameLog(socket);
}

const idIn = ({ type, run: ran, script: shown, resource, id }: Frame): string =>
  `${type === 'changed' ? resource : type} ${ran?.run_id ?? shown?.id ?? id}`;

/** Makes one change for each topic. */
async function happenings(): Promise<ReadonlyMap<string, readonly [Topic, Place]>> {
  const { admin } = platform;
  const made = new Map<string, readonly [Topic, Place]>();
  for (const [place, groupId] of [
    ['own group', groups.custom],
    ['another group', groups.bots],
  ] as const) {
    const { id } = await script(admin, { group_id: groupId });
    await admin.put(`/api/v1/scripts/${id}/secrets/TOKEN`, { value: 'a value' });
    const ids = {
      script: id,
      secrets: id,
      status: await run(admin, id),
      schedule: await schedule(admin, id),
      webhook: (await webhook(admin, id)).id,
      chain: await chain(admin, id, (await script(admin, { group_id: groupId })).id),
      notification: await notice(platform, id),
    } satisfies Partial<Record<Topic, string>>;
    for (const [topic, one] of Object.entries(ids)) {
      made.set(`${topic} ${one}`, [topic as Topic, place]);
    }
  }
  const user = (await admin.post('/api/v1/users', newUser())).json as { id: string };
  made.set(`user ${user.id}`, ['user', 'no group']);
  await admin.post('/api/v1/system/pause');
  await admin.post('/api/v1/system/resume');
  made.set('system triggers', ['system', 'no group']);
  return made;
}

/** Lists the readers that received frames other than the permitted ones, each with topic and group. */
function surprises(
  told: ReadonlyMap<string, ReadonlySet<string>>,
  neededFor: (topic: Topic) => Right,
): readonly string[] {
  return readers.flatMap((reader) =>
    (Object.keys(topics) as Topic[]).flatMap((topic) => {
      const places: readonly Place[] = ofAll.includes(topic)
        ? ['no group']
        : ['own group', 'another group'];
      return places
        .filter((place) => {
          const may = mayFollow(reader) && holds(reader, neededFor(topic)) && sees(reader, place);
          return told.get(reader.name)?.has(`${topic} of ${place}`) !== may;
        })
        .map((place) => `${reader.name}: ${topic} of ${place}`);
    }),
  );
}

describe('resources of each kind, in two groups,', () => {
  const told = new Map<string, ReadonlySet<string>>();
  const codes = new Map<string, number | undefined>();
  beforeAll(async () => {
    const sockets = new Map(
      readers.map((reader) => [reader.name, open(clients.get(reader.name) ?? platform.admin)]),
    );
    const closed = new Map<string, number>();
    for (const [name, frames] of sockets) void frames.closed.then((code) => closed.set(name, code));
    const following = readers.filter(mayFollow);
    for (const { name } of following) {
      await sockets.get(name)?.until((all) => all.frames.length > 0);
    }
    const made = await happenings();
    // The frame of this script arrives after all earlier frames.
    const { id } = await script(platform.admin, { group_id: groups.custom });
    for (const { name } of following) {
      await sockets.get(name)?.until((all) => all.frames.some((one) => one.script?.id === id));
    }
    for (const reader of readers) {
      const frames = sockets.get(reader.name);
      if (!mayFollow(reader)) await frames?.closed;
      codes.set(reader.name, closed.get(reader.name));
      const names = (frames?.frames ?? []).flatMap((one) => {
        const [topic, place] = made.get(idIn(one)) ?? [];
        return topic === undefined ? [] : [`${topic} of ${place}`];
      });
      told.set(reader.name, new Set(names));
    }
  });

  test('are accessible to exactly the readers in the permission table', () => {
    const wanted = readers.map((one) => [one.name, mayFollow(one) ? undefined : 4403] as const);
    expect(codes).toEqual(new Map(wanted));
  });

  test('are sent only to readers who can also read them through the API', () => {
    expect(surprises(told, rightOf)).toEqual([]);
  });

  const planted = (Object.keys(topics) as Topic[]).flatMap((topic) =>
    (Object.keys(rights) as Right[])
      .filter((right) =>
        readers.some((one) => mayFollow(one) && holds(one, right) !== holds(one, rightOf(topic))),
      )
      .map((right) => [topic, right] as const),
  );

  test('expose a wrong permission on any topic', () => {
    expect(planted.length).toBeGreaterThan(50);
    const unnoticed = planted.filter(
      ([topic, right]) =>
        surprises(told, (one) => (one === topic ? right : rightOf(one))).length === 0,
    );
    expect(unnoticed).toEqual([]);
  });
});

describe('a run in each group', () => {
  test('can be followed by exactly the users who may read it', async () => {
    const runs = [
      ['own group', await runIn(groups.custom)],
      ['another group', await runIn(groups.bots)],
    ] as const;
    const [seen, wanted]: [string[], string[]] = [[], []];
    for (const reader of readers) {
      for (const [place, runId] of [...runs, ['another group', nowhere] as const]) {
        const code = await openCode(clients.get(reader.name) ?? platform.admin, runId);
        seen.push(`${reader.name}, ${place}: ${code}`);
        const isThere = runId !== nowhere && sees(reader, place);
        const right = holds(reader, 'runs.read') ? (isThere ? 'let in' : 4404) : 4403;
        wanted.push(`${reader.name}, ${place}: ${right}`);
      }
    }
    expect(seen).toEqual(wanted);
  });

  async function runIn(groupId: string): Promise<string> {
    return await run(platform.admin, (await script(platform.admin, { group_id: groupId })).id);
  }

  async function openCode(client: TestClient, runId: string): Promise<number | 'let in'> {
    const frames = open(client, `/runs/${runId}`);
    const first = frames.until((all) => all.frames.length > 0).then(() => 'let in' as const);
    const code = await Promise.race([first, frames.closed]);
    frames.socket.terminate();
    return code;
  }
});

describe('open sockets', () => {
  const patch = (change: object) => async (id: string) =>
    await platform.admin.patch(`/api/v1/users/${id}`, change);
  const password = (id: string) =>
    platform.admin.post(`/api/v1/users/${id}/password`, { password: 'another password' });

  test.each([
    ['is disabled', patch({ disabled: true }), 4401, 4401],
    ['gets a new password', password, 4401, undefined],
    ['leaves the group', patch({ group_ids: [groups.bots] }), 4404, 4404],
  ] as const)('end when their owner %s', async (_, change, ofSession, ofToken) => {
    const person = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const { client } = await apiToken(person, ['*']);
    const { id } = await script(platform.admin);
    const runId = await run(platform.admin, id);
    const [session, token] = [person, client].map((one) => open(one, `/runs/${runId}`));
    for (const frames of [session, token]) {
      await frames?.until((all) => all.frames.length > 0);
    }
    const me = (await person.get('/api/v1/auth/me')).json as { id: string };
    await change(me.id);
    expect(await session?.closed).toBe(ofSession);
    if (ofToken !== undefined) expect(await token?.closed).toBe(ofToken);
    else expect(token?.socket.readyState).toBe(WebSocket.OPEN);
  });

  test('deliver only what the new role may read after a role change', async () => {
    const person = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const me = (await person.get('/api/v1/auth/me')).json as { id: string };
    const { id } = await script(platform.admin);
    const frames = open(person);
    const told = async (resource: string) => {
      const { id: later } = await script(platform.admin);
      await frames.until((all) => all.frames.some((one) => one.script?.id === later));
      return frames.frames.some((one) => one.resource === resource && one.script_id === id);
    };
    await frames.until((all) => all.frames.length > 0);
    await webhook(platform.admin, id);
    expect(await told('webhook')).toBe(true);
    await patch({ role: 'viewer' })(me.id);
    await frames.until((all) => all.frames.filter((one) => one.type === 'resync').length === 2);
    await platform.admin.put(`/api/v1/scripts/${id}/secrets/TOKEN`, { value: 'a value' });
    expect(await told('secrets')).toBe(false);
    await patch({ role: 'developer' })(me.id);
    await frames.until((all) => all.frames.filter((one) => one.type === 'resync').length === 3);
    await platform.admin.put(`/api/v1/scripts/${id}/secrets/TOKEN`, { value: 'another' });
    expect(await told('secrets')).toBe(true);
  });

  test('end when the session or token is revoked', async () => {
    const person = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const { client, id } = await apiToken(person, ['*']);
    const [session, token] = [open(person), open(client)];
    for (const frames of [session, token]) await frames.until((all) => all.frames.length > 0);
    const { items } = (await person.get('/api/v1/auth/sessions')).json;
    await platform.admin.delete(`/api/v1/auth/tokens/${id}`);
    expect(await token.closed).toBe(4401);
    await platform.admin.delete(`/api/v1/auth/sessions/${items[0].id}`);
    expect(await session.closed).toBe(4401);
  });
});
