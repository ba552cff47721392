/** Checks whether the database responds to this process, for health checks. */
import type { Queryable } from '#infra/postgres/database.ts';
import { inTime } from './in-time.ts';

const timeoutMs = 2_000;
/** Concurrent health checks share one query of the database. */
const asking = new WeakMap<Queryable, Promise<unknown>>();

/** Checks the database through the connections that serve requests.
 *  @returns a line for the operator within 2 s; undefined if it responds */
export async function databaseProblem(database: Queryable): Promise<string | undefined> {
  let answer = asking.get(database);
  if (answer === undefined) {
    answer = database.query('SELECT', []).finally(() => asking.delete(database));
    asking.set(database, answer);
  }
  return (await inTime(answer, timeoutMs)) ? undefined : 'the database does not respond';
}
