/** Creates the resources that operation paths refer to, in a user's group. */
import { createHash, randomUUID } from 'node:crypto';
import { objectKey } from '#domain/ports/object-keys.ts';
import { mustParse, parseCommandId, parseSessionId, parseUserId } from '#domain/kernel/ids.ts';
import { reportRuntime } from '#infra/postgres/queue/runtimes.ts';
import type { Operation } from '../http/operation.ts';
import { calendarText } from './calendar-text.ts';
import {
  apiToken,
  approval,
  requestedChange,
  backup,
  chain,
  channel,
  delivery,
  failDelivery,
  failWith,
  notice,
  notificationRule,
  nowhere,
  run,
  schedule,
  script,
  webhook,
  identityProvider,
  repository,
  secretStore,
} from './people.ts';
import type { TestBackend } from './test-backend.ts';
import type { TestClient } from './test-client.ts';

export interface Form {
  readonly one: Operation;
  readonly method: string;
  readonly path: string;
}

/** The group and the user that a resource belongs to. */
export interface Place {
  readonly groupId: string;
  readonly owner: TestClient;
}

const password = 'a good password';
let made = 0;

/** Returns the body of a request that creates an account. Each call returns a different email address. */
export function newUser() {
  return { email: `made${(made += 1)}@example.com`, password, role: 'viewer' };
}

export function newGroup() {
  return { name: `Made ${(made += 1)}` };
}

/** Creates a script in the group that permits nine concurrent runs. @returns its ID */
export async function scriptIn({ admin }: TestBackend, groupId: string): Promise<string> {
  return (await script(admin, { group_id: groupId, max_concurrent_runs: 9 })).id;
}

async function idOf(answer: ReturnType<TestClient['post']>): Promise<string> {
  const { json } = await answer;
  return (json as { id: string }).id;
}

/** The recovery code of the account with the passkey that `passkeyOf` creates. */
export const passkeyRecoveryCode = 'recovery';

/** Replaces the second factor of the account with a passkey.
 *  @returns the passkey's ID */
async function passkeyOf({ services }: TestBackend, owner: TestClient): Promise<string> {
  const userId = mustParse(parseUserId, await idOf(owner.get('/api/v1/auth/me')));
  const passkeyId = services.ids.next();
  const recoveryHash = createHash('sha256').update(passkeyRecoveryCode).digest('hex');
  const passkey = { passkeyId, name: 'Laptop', webauthnId: 'AQID', publicKey: 'AQID', counter: 0 };
  for (const command of [
    { type: 'DisableSecondFactor', userId } as const,
    {
      type: 'AddPasskey',
      userId,
      ...passkey,
      transports: [],
      recoveryHashes: [recoveryHash],
    } as const,
  ]) {
    const commandId = mustParse(parseCommandId, services.ids.next());
    const actor = { kind: 'anonymous' } as const;
    const context = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
    await services.commands.execute(command, context);
  }
  return passkeyId;
}

async function sessionOf({ services }: TestBackend, owner: TestClient): Promise<string> {
  const sessionId = mustParse(parseSessionId, services.ids.next());
  const commandId = mustParse(parseCommandId, services.ids.next());
  const userId = mustParse(parseUserId, await idOf(owner.get('/api/v1/auth/me')));
  const open = {
    type: 'OpenSession',
    sessionId,
    userId,
    accountVersion: 1,
    userAgent: null,
  } as const;
  const actor = { kind: 'anonymous' } as const;
  const context = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
  await services.commands.execute(open, context);
  return sessionId;
}

type Make = (
  platform: TestBackend,
  place: Place,
  form: Form,
  /** The created resources by parameter name. A function may add further resources. */
  made: Record<string, string>,
) => Promise<string>;

/** Creates the resource that each path parameter refers to. A parameter without an entry fails the test. */
const makers: Readonly<Record<string, Make>> = {
  id: async (platform, { groupId }, { path, one }) => {
    const { admin } = platform;
    if (path.startsWith('/api/v1/groups/')) {
      await admin.put(`/api/v1/groups/${groupId}/secrets/TOKEN`, { value: 'a value' });
      return groupId;
    }
    const id = await scriptIn(platform, groupId);
    const at = `/api/v1/scripts/${id}`;
    if (path.includes('/secrets/')) await admin.put(`${at}/secrets/TOKEN`, { value: 'a value' });
    // Adds a second file, because the last file of a script cannot be deleted.
    if (path.includes('/files/')) await admin.putBytes(`${at}/files/other.py`, 'pass');
    if (one.operationId === 'stopScriptRuns') await run(admin, id);
    if (one.operationId === 'purgeScript') await admin.delete(at);
    return id;
  },
  run_id: async (platform, { groupId }, { path }) => {
    const runId = await run(platform.admin, await scriptIn(platform, groupId));
    if (path.includes('/artifacts/')) {
      const key = objectKey.runArtifact(runId, 'main.py');
      await platform.services.objects.put(key, Buffer.from('kept'));
    }
    return runId;
  },
  approval_id: async (platform, { groupId }, { path }) => {
    const isOfChange = /\/(diff|rebase)$|\/files\//.test(path);
    return await (isOfChange ? requestedChange : approval)(platform.admin, groupId);
  },
  schedule_id: async (platform, { groupId }) =>
    await schedule(platform.admin, await scriptIn(platform, groupId)),
  webhook_id: async (platform, { groupId }, { path }, made) => {
    const { id, token } = await webhook(platform.admin, await scriptIn(platform, groupId));
    if (path.includes('{delivery_id}')) {
      const called = await platform.anonymous.send('POST', `/hooks/${token}`, 'x');
      made['delivery_id'] = (called.json as { run_id: string }).run_id;
    }
    return id;
  },
  token: async (platform, { groupId }) =>
    (await webhook(platform.admin, await scriptIn(platform, groupId))).token,
  chain_id: async (platform, { groupId }) => {
    const source = await scriptIn(platform, groupId);
    return await chain(platform.admin, source, await scriptIn(platform, groupId));
  },
  error_group_id: async (platform, { groupId }) => {
    const runId = await failWith(platform, await scriptIn(platform, groupId));
    const { json } = await platform.admin.get(`/api/v1/runs/${runId}`);
    return (json as { error_group_id: string }).error_group_id;
  },
  runtime_id: async ({ pool }) => {
    await reportRuntime(pool, {
      runtime_id: 'runtime-1',
      started_at: new Date('2026-01-01T00:00:00Z'),
      slots: 4,
      running: 0,
      layers: [],
      python: null,
      labels: ['gpu'],
    });
    return 'runtime-1';
  },
  notification_id: async (platform, { groupId }) =>
    await notice(platform, await scriptIn(platform, groupId)),
  calendar_id: async ({ admin }) => {
    const input = { name: 'Holidays', content: calendarText };
    const created = await admin.post('/api/v1/calendars', input);
    return (created.json as { id: string }).id;
  },
  pool_id: async ({ admin }) => {
    const created = await admin.post('/api/v1/pools', { name: `pool-${randomUUID()}`, limit: 3 });
    return (created.json as { id: string }).id;
  },
  repository_id: async ({ admin }) => await repository(admin),
  secret_store_id: async ({ admin }, { groupId }) =>
    await secretStore(admin, { group_ids: [groupId] }),
  identity_provider_id: async ({ admin }) => await identityProvider(admin, 'acme'),
  provider: async ({ admin }) => {
    await identityProvider(admin, 'acme');
    return 'acme';
  },
  channel_id: async ({ admin }) => await channel(admin),
  backup_id: async (platform) => await backup(platform),
  rule_id: async ({ admin }) => await notificationRule(admin, await channel(admin)),
  notification_delivery_id: async (platform) => {
    const id = await delivery(platform.admin, await channel(platform.admin));
    await failDelivery(platform, id);
    return id;
  },
  token_id: async (_platform, { owner }) => (await apiToken(owner, ['*'])).id,
  passkey_id: async (platform, { owner }) => await passkeyOf(platform, owner),
  session_id: async (platform, { owner }) => await sessionOf(platform, owner),
  user_id: async ({ admin }) => await idOf(admin.post('/api/v1/users', newUser())),
  // Deletions get a new group, because only an unused group can be deleted. Other operations get the user's group,
  // which members can see.
  group_id: async ({ admin }, { groupId }, { method }) =>
    method === 'delete' ? await idOf(admin.post('/api/v1/groups', newGroup())) : groupId,
  name: () => Promise.resolve('TOKEN'),
  path: () => Promise.resolve('main.py'),
  file: async ({ services }) => (await services.sdkWheel()).fileName,
};

/** Returns the path of an existing resource. */
export async function addressOf(platform: TestBackend, form: Form, place: Place): Promise<string> {
  const made: Record<string, string> = {};
  for (const [, name = ''] of form.path.matchAll(/\{(\w+)\}/g)) {
    if (made[name] !== undefined) continue;
    const make = makers[name];
    if (make === undefined) throw new Error(`nothing is made for {${name}}`);
    made[name] = await make(platform, place, form, made);
  }
  return form.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => made[name] ?? '');
}

/** Returns the path of a resource that does not exist. */
export function addressOfNothing({ path }: Form): string {
  return path
    .replace('{name}', 'TOKEN')
    .replace('{path}', 'main.py')
    .replaceAll(/\{\w+\}/g, nowhere);
}
