/** All kinds of callers: each role, with each kind of credential, in each state. */
import { roles, type Role } from '#domain/kernel/actor.ts';
import { scopes } from '#domain/kernel/rights.ts';
import { accountHolder, apiToken } from './people.ts';
import type { Caller } from './rights-specification.ts';
import type { TestBackend } from './test-backend.ts';
import { TestClient } from './test-client.ts';

export interface KnownCaller {
  readonly name: string;
  readonly client: TestClient;
  /** Absent if the credential is invalid. */
  readonly caller?: Caller;
}

/** Creates a caller for each role and an auditor, with a sign-in and with a token of each scope. */
export async function liveCallers(
  platform: TestBackend,
  groupIds: readonly string[],
): Promise<readonly KnownCaller[]> {
  const accounts = [...roles, 'auditor'] as const;
  const made = await Promise.all(accounts.map((account) => callersOf(platform, account, groupIds)));
  return made.flat();
}

async function callersOf(
  platform: TestBackend,
  account: Role | 'auditor',
  groupIds: readonly string[],
): Promise<readonly KnownCaller[]> {
  const isAuditor = account === 'auditor';
  const role = isAuditor ? 'viewer' : account;
  // Creates an administrator first and changes the role later, because a token cannot have a scope that its owner's
  // role does not permit.
  const holder = await accountHolder(platform, { role: 'administrator', groupIds });
  const tokens = await Promise.all(
    scopes.map(async (scope) => ({
      name: `${account}, token ${scope}`,
      client: (await apiToken(holder.client, [scope])).client,
      caller: { role, isAuditor, scope },
    })),
  );
  const change = { role, can_audit: isAuditor };
  await platform.admin.patch(`/api/v1/users/${holder.id}`, change);
  const { email, password } = holder;
  const client = await platform.anonymous.signIn({ email, password });
  return [{ name: account, client, caller: { role, isAuditor } }, ...tokens];
}

/** Creates callers with invalid credentials. All of these callers are administrators. Some credentials expire when
 *  `pass` moves the clock by two days. */
export async function deadCallers(
  platform: TestBackend,
  pass: () => void,
): Promise<readonly KnownCaller[]> {
  const make = () => accountHolder(platform, { role: 'administrator', groupIds: [] });
  const { admin, anonymous, origin } = platform;
  const forever = { expires_in_days: null };
  const [ended, disabled, reset, revoking, expiring] = [
    await make(),
    await make(),
    await make(),
    await make(),
    await make(),
  ];
  const ofDisabled = await apiToken(disabled.client, ['*'], forever);
  const revoked = await apiToken(revoking.client, ['*'], forever);
  const shortLived = await apiToken(expiring.client, ['*'], { expires_in_days: 1 });
  await ended.client.post('/api/v1/auth/logout');
  await admin.patch(`/api/v1/users/${disabled.id}`, { disabled: true });
  const password = 'another good password';
  await admin.post(`/api/v1/users/${reset.id}/password`, { new_password: password });
  await revoking.client.delete(`/api/v1/auth/tokens/${revoked.id}`);
  pass();
  return [
    { name: 'an anonymous client', client: anonymous },
    { name: 'malformed text', client: new TestClient(origin, 'abc.def.ghi') },
    { name: 'an ended session', client: ended.client },
    { name: 'a session of a disabled account', client: disabled.client },
    { name: 'a token of a disabled account', client: ofDisabled.client },
    { name: 'a session from before a new password', client: reset.client },
    { name: 'a revoked token', client: revoked.client },
    { name: 'an expired session', client: expiring.client },
    { name: 'an expired token', client: shortLived.client },
  ];
}
