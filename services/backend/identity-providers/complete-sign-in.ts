/** Opens a session for a user whom an identity provider has authenticated. */
import type { Claims } from '#domain/identity-provider/provider.ts';
import { mustParse, parseCommandId, parseUserId, type GroupId } from '#domain/kernel/ids.ts';
import { nameProblem } from '#domain/kernel/names.ts';
import type { UserCommand } from '#domain/user/commands.ts';
import { listGroups } from '#projections/groups/queries.ts';
import type { IdentityProvidersTable } from '#projections/identity-providers/table.ts';
import { findUserByIdentity } from '#projections/users/queries.ts';
import { openSessionOf, type SignedIn } from '../access/sign-in.ts';
import type { Call } from '../http/operation.ts';
import { refusalProblem } from '../http/outcome.ts';
import type { Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { resolveSignIn, type RefusalReason, type Resolved } from './resolve.ts';

type SignInCall = Pick<Call, 'context' | 'header'>;

/** Creates the account, or links the identity to an existing account. Then updates the account's role and groups
 *  according to the provider's settings.
 *  @returns the reason if the settings do not admit the user */
export async function completeSignIn(
  provider: IdentityProvidersTable,
  claims: Claims,
  call: SignInCall,
  services: Services,
): Promise<SignedIn | RefusalReason | Problem> {
  const resolved = await resolveSignIn(provider, claims, services.readModels);
  const { resolution, identity } = resolved;
  if (resolution.outcome === 'refuse') return resolution.reason;
  const email = resolution.outcome === 'create' ? resolution.email : resolution.user.email;
  for (const command of await commandsOf(provider, claims, resolved, services)) {
    const refused = await execute(command, email, call, services);
    if (refused !== undefined) return refused;
  }
  const user = await findUserByIdentity(services.readModels, identity);
  if (user === undefined) throw new Error('the linked account was not found by its identity');
  const { sid } = claims;
  return await openSessionOf(
    {
      user: { ...user, user_id: mustParse(parseUserId, user.user_id) },
      identity: { ...identity, providerSessionId: typeof sid === 'string' ? sid : null },
    },
    call,
    services,
  );
}

/** The commands that create or update the account. Each command is idempotent, so an interrupted sign-in can be
 *  repeated. */
async function commandsOf(
  { settings }: IdentityProvidersTable,
  claims: Claims,
  { resolution, identity, access }: Resolved,
  { ids, readModels }: Services,
): Promise<readonly UserCommand[]> {
  if (resolution.outcome === 'refuse') return [];
  const groupIds = await existing(access.groupIds, readModels);
  const { canAudit } = access;
  if (resolution.outcome === 'create') {
    const { email, role } = resolution;
    const userId = mustParse(parseUserId, ids.next());
    const settings = { name: nameOf(claims, email), role, groupIds, canAudit };
    const credentialId = ids.next();
    return [{ type: 'CreateUser', userId, email, ...settings, credentialId, identity }];
  }
  const userId = mustParse(parseUserId, resolution.user.user_id);
  const role = access.role ?? resolution.user.role;
  const link = { type: 'LinkIdentity', userId, ...identity } as const;
  const sync = { type: 'ChangeUser', userId, changes: { role, groupIds, canAudit } } as const;
  return [...(resolution.outcome === 'link' ? [link] : []), ...(settings.syncAccess ? [sync] : [])];
}

/** Omits deleted groups, because a rule may still refer to them. */
async function existing(
  groupIds: readonly GroupId[],
  db: Services['readModels'],
): Promise<readonly GroupId[]> {
  const rows = await listGroups(db, groupIds, undefined, groupIds.length);
  const found = new Set(rows.map((row) => row.group_id));
  return groupIds.filter((id) => found.has(id));
}

const maxName = 100;

function nameOf({ name }: Claims, email: string): string {
  const claimed = typeof name === 'string' ? name.trim().replaceAll(/ +/g, ' ') : '';
  const isUsable =
    claimed !== '' && claimed.length <= maxName && nameProblem(claimed) === undefined;
  return isUsable ? claimed : email.slice(0, email.indexOf('@'));
}

async function execute(
  command: UserCommand,
  email: string,
  { context }: SignInCall,
  { commands, ids, logger }: Services,
): Promise<Problem | undefined> {
  const { userId } = command;
  const outcome = await commands.execute(command, {
    ...context,
    commandId: mustParse(parseCommandId, ids.next()),
    actor: { kind: 'user', userId, email },
  });
  if (outcome.kind !== 'refused') return undefined;
  if (outcome.refusal.code !== 'last_administrator') return refusalProblem(outcome.refusal);
  // The last administrator keeps the role, to be able to sign in and correct the rules.
  logger.warn({ userId }, 'the rules of an identity provider would demote the last administrator');
  return undefined;
}
