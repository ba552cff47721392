// Long because it has a body for every operation.
/** Checks that each operation accepts a valid request from each permitted role and token. permission-matrix.test.ts
 *  tests refusals. */
import { gitProgram } from '#infra/git/testing/programs.ts';
import {
  startGitServer,
  type TestGitServer,
  type TestRepository,
} from '#infra/git/testing/server.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { calendarText } from './testing/calendar-text.ts';
import { roles, type Role } from '#domain/kernel/actor.ts';
import { mustParse, parseCommandId, parseUserId } from '#domain/kernel/ids.ts';
import { rights, scopes, scopesOf, type Right, type Scope } from '#domain/kernel/rights.ts';
import { systemContext } from '#domain/ports/commands.ts';
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueChallenge } from '#infra/postgres/access/passkey-challenges.ts';
import { TestAuthenticator } from './testing/authenticator.ts';
import { newKey, newRecoveryCodes, sealFactor } from './access/second-factor/second-factor.ts';
import { formsOf, type Operation } from './http/operation.ts';
import { operations } from './operations.ts';
import { description } from './testing/described.ts';
import {
  addressOf,
  passkeyRecoveryCode,
  newGroup,
  newUser,
  scriptIn,
  type Form,
} from './testing/named-things.ts';
import {
  accountPassword,
  apiToken,
  channel,
  groups,
  run,
  schedule,
  script,
  someone,
  webhook,
  downloadedBackup,
} from './testing/people.ts';
import { nextRelease, startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { Answer, TestClient } from './testing/test-client.ts';

const allRoles = [...roles, 'auditor'];
/** A URL with a host name, which passkeys require. */
const publicUrl = 'http://localhost:8000';
let platform: TestBackend;
const people = new Map<string, TestClient>();
let token: TestClient;
/** Undefined until a test needs Git. */
let gitServer: TestGitServer | undefined;
let served: TestRepository;
beforeAll(async () => {
  platform = await startTestBackend({ publicUrl });
  for (const role of allRoles) people.set(role, await inCustom(role));
  token = (await apiToken(platform.admin, ['*'], { expires_in_days: null })).client;
});
afterAll(() => Promise.all([platform.close(), gitServer?.close()]));

async function inCustom(name: string): Promise<TestClient> {
  const role = name === 'auditor' ? 'viewer' : (name as Role);
  const canAudit = name === 'auditor';
  return await someone(platform, { role, groupIds: [groups.custom], canAudit });
}

const forms = operations.flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
const guarded = forms.filter(
  ({ one, path }) => path.startsWith('/api/v1/') && one.access !== 'public',
);

/** A counter that makes names unique. */
let made = 0;

/** Bodies that refer to existing resources, or that must differ between requests. */
const bodies: Readonly<Record<string, (client: TestClient, groupId: string) => unknown>> = {
  createScript: (_client, groupId) => ({ name: 'Made', group_id: groupId }),
  createSchedule: async (_client, groupId) => ({
    script_id: await scriptIn(platform, groupId),
    cron: '@daily',
  }),
  createWebhook: async (_client, groupId) => ({ script_id: await scriptIn(platform, groupId) }),
  createChain: async (_client, groupId) => ({
    source_script_id: await scriptIn(platform, groupId),
    target_script_id: await scriptIn(platform, groupId),
  }),
  changeErrorGroup: () => ({ status: 'resolved' }),
  createRule: async () => ({
    name: 'Made',
    on: ['failed'],
    channel_ids: [await channel(platform.admin)],
  }),
  createUser: (client) => {
    const { password, ...body } = newUser();
    // API tokens cannot set passwords.
    return client === token ? body : { ...body, password };
  },
  createSecretStore: () => ({
    name: `Mounted ${(made += 1)}`,
    type: 'files',
    group_ids: null,
    folder: 'mounted',
  }),
  changeSecretStore: () => ({ group_ids: null }),
  createRepository: () => ({
    name: `Jobs ${(made += 1)}`,
    url: 'https://git.example.com/team/jobs.git',
  }),
  changeRepository: () => ({ branch: 'release' }),
  createIdentityProvider: () => ({
    slug: `acme-${(made += 1)}`,
    name: 'Acme',
    issuer: 'https://id.example.com',
    client_id: 'orchestrator',
  }),
  linkUserIdentity: () => ({ subject: `subject-${(made += 1)}` }),
  previewCalendar: () => ({ content: calendarText }),
  createCalendar: () => ({ name: 'Holidays', content: calendarText }),
  createPool: () => ({ name: `pool-${(made += 1)}`, limit: 3 }),
  createGroup: newGroup,
  syncRepository: serveRepositories,
  changeGroup: () => ({ icon: 'folder' }),
  changeUser: () => ({ name: 'Changed' }),
  changePassword: () => ({
    current_password: 'a good password',
    new_password: 'a good password',
  }),
  enableSecondFactor: () => {
    const key = newKey();
    const code = new TOTP({ secret: key }).generate();
    return { current_password: accountPassword, key, code };
  },
  replaceRecoveryCodes: withFactor,
  addPasskey: newPasskey,
  removePasskey: () => ({ current_password: accountPassword, code: passkeyRecoveryCode }),
  disableSecondFactor: withFactor,
  applyUpdate: async () => {
    await endUpdate();
    await platform.admin.post('/api/v1/system/updates/check');
    return { version: nextRelease.version };
  },
  rollBackUpdate: async () => {
    await endUpdate();
    return {};
  },
  uploadBackup: () => downloadedBackup(platform),
  createToken: () => ({ name: 'Made', scopes: ['*'] }),
};
/** Makes all repositories available on the test's Git server. */
async function serveRepositories(): Promise<undefined> {
  if (gitServer === undefined) {
    gitServer = await startGitServer();
    served = await gitServer.repository('served');
    await served.commit({ 'README.md': 'Nothing to provide.' });
  }
  const { json } = await platform.admin.get('/api/v1/repositories');
  for (const { id } of (json as { items: { id: string }[] }).items) {
    await platform.admin.patch(`/api/v1/repositories/${id}`, { url: served.url });
  }
}

/** Creates a passkey for an account without a second factor. */
async function newPasskey(client: TestClient): Promise<object> {
  const { id } = (await client.get('/api/v1/auth/me')).json;
  const userId = mustParse(parseUserId, id);
  const { commands, ids } = platform.services;
  const command = { type: 'DisableSecondFactor', userId } as const;
  await commands.execute(command, systemContext('updater', ids.next()));
  const challenge = await issueChallenge(platform.pool, userId, 'add');
  const origin = publicUrl;
  const credential = new TestAuthenticator().create({ challenge, origin });
  return { name: 'Laptop', current_password: accountPassword, credential };
}

/** Enables the second factor of the account. @returns a body with a recovery code */
async function withFactor(client: TestClient): Promise<object> {
  const { commands, ids } = platform.services;
  const userId = mustParse(parseUserId, (await client.get('/api/v1/auth/me')).json.id);
  const { codes, hashes } = newRecoveryCodes();
  const factor = await sealFactor({ userId, key: newKey(), hashes }, platform.services);
  for (const command of [
    { type: 'DisableSecondFactor', userId } as const,
    { type: 'EnableSecondFactor', userId, ...factor } as const,
  ]) {
    await commands.execute(command, systemContext('updater', ids.next()));
  }
  return { current_password: accountPassword, code: codes[0] };
}

/** Ends the active update, so that another update can be started. */
async function endUpdate(): Promise<void> {
  const { running } = (await platform.admin.get('/api/v1/system/updates')).json;
  if (running === null) return;
  const { commands, ids } = platform.services;
  const commandId = mustParse(parseCommandId, ids.next());
  const actor = { kind: 'system', name: 'updater' } as const;
  const context = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
  await commands.execute({ type: 'FailUpdate', updateId: running.id, reason: 'a test' }, context);
}

/** Operations whose body contains the group. */
const aboutBody = ['createScript', 'createSchedule', 'createWebhook', 'createChain'];
/** Operations that end the caller's session. */
const endsSession = ['logout', 'changePassword', 'revokeSession', 'revokeUserSessions'];

async function call(
  client: TestClient,
  { one, method }: Form,
  address: string,
  groupId: string = groups.custom,
): Promise<Answer> {
  const body = (await bodies[one.operationId]?.(client, groupId)) ?? one.body?.example;
  const verb = method.toUpperCase();
  if (body instanceof Uint8Array) return await client.send(verb, address, body);
  return await client.sendJson(verb, address, one.body && body);
}

/** Whether an administrator's API token with the scope is permitted. */
function gives(scope: Scope, { access }: Operation): boolean {
  if (typeof access === 'string') return access !== 'session';
  if (access.session === true) return false;
  const givers: readonly Scope[] = scopesOf[access.right as Right];
  return givers.includes(scope);
}

function holds(role: string, { access }: Operation): boolean {
  if (typeof access === 'string') return true;
  if (role === 'auditor') {
    return access.right === 'audit.read' || holds('viewer', { access } as Operation);
  }
  const holders: readonly Role[] = rights[access.right as Right];
  return holders.includes(role as Role);
}

/** Operations that run Git. */
const needsGit = ['syncRepository'];

function describeForm({ one, method, path }: Form, body: () => void): void {
  if (needsGit.includes(one.operationId)) describeWith(gitProgram, `${method} ${path}`, body);
  else describe(`${method} ${path}`, body);
}

/** Not even administrators may call these operations for another account. */
const ofOwnAccount = ['renamePasskey', 'removePasskey'];

for (const form of guarded) {
  const { one } = form;
  describeForm(form, () => {
    test.each(allRoles.filter((role) => holds(role, one)))(
      'succeeds for the role %s',
      async (role) => {
        const client = endsSession.includes(one.operationId)
          ? await inCustom(role)
          : (people.get(role) ?? platform.anonymous);
        const own = { groupId: groups.custom, owner: client };
        const answer = await call(client, form, await addressOf(platform, form, own));
        expect(answer.status, answer.text).toBeLessThan(300);
        const isFree = role === 'administrator';
        if (aboutBody.includes(one.operationId)) {
          const foreign = await call(client, form, form.path, groups.bots);
          expect(foreign.status).toBe(isFree ? answer.status : 422);
        }
        if (!isFree || !form.path.includes('{')) return;
        const other = { groupId: groups.bots, owner: platform.admin };
        const foreign = await call(client, form, await addressOf(platform, form, other));
        expect(foreign.status).toBe(ofOwnAccount.includes(one.operationId) ? 404 : answer.status);
      },
    );

    if (!gives('*', one)) return;
    test('succeeds for an API token with every scope', async () => {
      const place = { groupId: groups.custom, owner: platform.admin };
      const answer = await call(token, form, await addressOf(platform, form, place));
      expect(answer.status, answer.text).toBeLessThan(300);
    });
  });
}

test('no read scope allows a token to change anything', () => {
  const changing = operations.filter(({ method }) => method !== 'get');
  const given = changing.filter((one) =>
    scopes.some((scope) => scope.endsWith(':read') && gives(scope, one) && one.access !== 'public'),
  );
  // This operation computes due times, but stores nothing.
  expect(given.map(({ operationId }) => operationId)).toEqual(['previewSchedule']);
});

describe('lists', () => {
  // Texts that must not appear in responses to other users.
  const traces: string[] = [];
  beforeAll(async () => {
    const place = { group_id: groups.bots, name: 'Foreign script', max_concurrent_runs: 9 };
    const { id } = await script(platform.admin, place);
    const foreign = [id, await run(platform.admin, id), await schedule(platform.admin, id)];
    traces.push(...foreign, (await webhook(platform.admin, id)).id, 'Foreign script');
    traces.push(groups.bots, groups.monitoring);
  });
  const lists = guarded.filter(({ one, path }) => one.method === 'get' && !path.includes('{'));
  const found = async (client: TestClient, { path, one }: Form) => {
    const { properties = {} } = (one.query ?? {}) as { readonly properties?: object };
    const query = 'limit' in properties ? '?limit=200' : '';
    const timeseries = one.operationId === 'dashboardTimeseries' ? '?metric=runs' : query;
    const { text } = await client.get(`${path}${timeseries}`);
    return traces.filter((trace) => text.includes(trace));
  };

  test('contain no items of other groups for ordinary users', async () => {
    // Skips the audit trail, because an auditor may read all entries.
    for (const form of lists.filter(({ one }) => one.operationId !== 'listAudit')) {
      for (const role of allRoles.filter((one) => one !== 'administrator')) {
        const client = people.get(role) ?? platform.anonymous;
        expect([form.path, role, await found(client, form)]).toEqual([form.path, role, []]);
      }
    }
  });

  test('contain all items for administrators, which validates the previous test', async () => {
    const all = await Promise.all(lists.map((form) => found(platform.admin, form)));
    expect(new Set(all.flat())).toEqual(new Set(traces));
  });
});

test('only the intended operations are public', () => {
  const open = operations.filter((one) => one.access === 'public').map((one) => one.path);
  expect(open).toEqual([
    '/api/v1/auth/login',
    '/api/v1/auth/refresh',
    '/api/v1/auth/second-factor/challenge',
    '/api/v1/auth/providers',
    '/api/v1/auth/oidc/{provider}/start',
    '/api/v1/auth/oidc/{provider}/callback',
    '/api/v1/auth/oidc/{provider}/logout',
    '/api/v1/auth/oidc/{provider}/backchannel-logout',
    '/health',
    '/livez',
    '/readyz',
    '/metrics',
    '/api/v1/hooks/git/{token}',
    '/api/v1/hooks/{token}',
    '/sdk/simple',
    '/sdk/simple/script-orchestration-sdk',
    '/sdk/{file}',
    '/openapi.json',
  ]);
});

test('the API description lists the paths of the table and the WebSockets', () => {
  const described = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const known = forms.filter((one) => one.isDescribed);
  expect(described.toSorted()).toEqual(
    known.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  // WebSockets have a separate table of rights.
  expect(Object.keys(description['x-websockets'])).toEqual([
    '/ws',
    '/ws/runs/{run_id}',
    '/ws/scripts/{script_id}/editors',
  ]);
});
