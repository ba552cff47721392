/** Tells a database that cannot be reached from a mistake of ours. */
import { sqlState } from '#infra/postgres/database.ts';

// Connection failures, resources exhausted, shutting down, starting up.
const awayState = /^(08...|53...|57P0[1-5]|E(CONN|PIPE|NOENT|TIMEDOUT|AI_AGAIN).*)$/;
const awayMessage =
  /timeout exceeded when trying to connect|Connection terminated|after calling end|Client has encountered a connection error/;

export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return awayState.test(sqlState(error) ?? '') || awayMessage.test(error.message);
}
