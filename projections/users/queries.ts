import type { UserId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import type { UsersTable } from './table.ts';

/** One account; `undefined` where there is none. */
export async function findUser(db: ReadModels, userId: UserId): Promise<UsersTable | undefined> {
  return await db.selectFrom('users').selectAll().where('user_id', '=', userId).executeTakeFirst();
}

/** The account of a lower-case e-mail address. */
export async function findUserByEmail(
  db: ReadModels,
  email: string,
): Promise<UsersTable | undefined> {
  return await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
}

/** Newest first, from behind `after`; at most `limit` rows. */
export async function listUsers(
  db: ReadModels,
  after: UserId | undefined,
  limit: number,
): Promise<readonly UsersTable[]> {
  let query = db.selectFrom('users').selectAll().orderBy('user_id', 'desc').limit(limit);
  if (after !== undefined) query = query.where('user_id', '<', after);
  return await query.execute();
}
