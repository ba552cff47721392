import { mustParse, parseUserId, type GroupId, type UserId } from '#domain/kernel/ids.ts';
import type { Identity } from '#domain/user/events.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { UsersTable } from './table.ts';

/** The data of an account that administrators may see. */
export type UserView = UsersTable & { readonly last_login_at: Date | null };

/** Returns an account, or `undefined` if it does not exist. */
export async function findUser(db: ReadModels, userId: UserId): Promise<UserView | undefined> {
  return await accounts(db).where('user_id', '=', userId).executeTakeFirst();
}

/** Returns the account with an email address, which must be in lower case. */
export async function findUserByEmail(
  db: ReadModels,
  email: string,
): Promise<UsersTable | undefined> {
  return await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
}

/** Returns the account to which an identity is linked. */
export async function findUserByIdentity(
  db: ReadModels,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): Promise<UsersTable | undefined> {
  const identity = JSON.stringify([{ issuer, subject }]);
  return await db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`identities @> ${identity}::jsonb`)
    .executeTakeFirst();
}

/** Lists accounts, newest first, starting after `after`. Returns at most `limit` accounts. */
export async function listUsers(
  db: ReadModels,
  after: UserId | undefined,
  limit: number,
): Promise<readonly UserView[]> {
  let query = accounts(db).orderBy('user_id', 'desc').limit(limit);
  if (after !== undefined) query = query.where('user_id', '<', after);
  return await query.execute();
}

/** Returns all members of a group. */
export async function membersOf(db: ReadModels, groupId: GroupId): Promise<readonly UserId[]> {
  const rows = await db
    .selectFrom('users')
    .select('user_id')
    .where(sql<boolean>`group_ids ? ${groupId}`)
    .orderBy('user_id')
    .execute();
  return rows.map((row) => mustParse(parseUserId, row.user_id));
}

function accounts(db: ReadModels) {
  const lastLogin = sql<Date | null>`(SELECT s.opened_at FROM sessions s
    WHERE s.user_id = users.user_id ORDER BY s.opened_at DESC LIMIT 1)`;
  return db.selectFrom('users').selectAll().select(lastLogin.as('last_login_at'));
}
