/** Checks whether this process can reach the database, for health checks. */
import type { Queryable } from '#infra/postgres/database.ts';
import { inTime } from './in-time.ts';

const timeoutMs = 2_000;
/** The pending query of each database, which concurrent health checks share. */
const asking = new WeakMap<Queryable, Promise<unknown>>();

/** Checks the database through the connections that requests use, for at most 2 s.
 *  @returns a message for the operator, or undefined if the database responds */
export async function databaseProblem(database: Queryable): Promise<string | undefined> {
  let answer = asking.get(database);
  if (answer === undefined) {
    answer = database.query('SELECT', []).finally(() => asking.delete(database));
    asking.set(database, answer);
  }
  return (await inTime(answer, timeoutMs)) ? undefined : 'the database does not respond';
}
