/** Tells a database that is unavailable from a mistake of ours. */
import { DatabaseUnavailable } from './connection.ts';
import { sqlState } from './database.ts';

/** Classes of SQLSTATE: connection exception, insufficient resources, operator intervention (shutting down, starting
 *  up, cancelled), and errors of the system below Postgres. */
const awayClasses: ReadonlySet<string> = new Set(['08', '53', '57', '58']);
/** Of a class that is of mistakes otherwise: a standby, which takes writes when it has been promoted, and sessions
 *  that the server ended for their age. */
const awayStates: ReadonlySet<string> = new Set(['25006', '25P03', '25P04']);

/** Whether an error, or what caused it, is temporary: the server did not respond, or it responded that
 *  it cannot serve now. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseUnavailable) return true;
  const state = sqlState(error);
  if (state === undefined) return isDatabaseAway(error.cause);
  return awayClasses.has(state.slice(0, 2)) || awayStates.has(state);
}
