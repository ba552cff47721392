/** Distinguishes an unavailable database from a programming error. */
import { DatabaseUnavailable, sqlState } from './connection.ts';

/** Classes of SQLSTATE: connection exception, insufficient resources, operator intervention (shutting down, starting
 *  up, cancelled), and errors of the system below Postgres. */
const awayClasses: ReadonlySet<string> = new Set(['08', '53', '57', '58']);
/** Codes in classes that otherwise mean a programming error: a standby, which accepts writes once promoted, and
 *  sessions that the server ended because of their age. */
const awayStates: ReadonlySet<string> = new Set(['25006', '25P03', '25P04']);

/** Whether an error or its cause is temporary: the server did not respond, or responded that it is currently
 *  unavailable. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseUnavailable) return true;
  const state = sqlState(error);
  if (state === undefined) return isDatabaseAway(error.cause);
  return awayClasses.has(state.slice(0, 2)) || awayStates.has(state);
}
