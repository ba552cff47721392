/** Distinguishes an unavailable database from a programming error. */
import { DatabaseUnavailable, sqlState } from './connection.ts';

/** SQLSTATE classes: connection exception, insufficient resources, operator intervention (such as shutdown or startup),
 *  and system errors outside Postgres. */
const awayClasses: ReadonlySet<string> = new Set(['08', '53', '57', '58']);
/** Temporary errors in classes that otherwise indicate a programming error: writing to a standby that may be promoted,
 *  and sessions that the server ended because of a timeout. */
const awayStates: ReadonlySet<string> = new Set(['25006', '25P03', '25P04']);

/** Whether an error or its cause is temporary. The server either did not respond, or reported that it is currently
 *  unavailable. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseUnavailable) return true;
  const state = sqlState(error);
  if (state === undefined) return isDatabaseAway(error.cause);
  return awayClasses.has(state.slice(0, 2)) || awayStates.has(state);
}
