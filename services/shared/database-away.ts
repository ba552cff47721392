/** Tells a database that cannot be reached from a mistake of ours. */
// Connection failures, resources exhausted, shutting down, starting up.
const awayState = /^(08...|53...|57P0[1-5]|E(CONN|PIPE|NOENT|TIMEDOUT|AI_AGAIN).*)$/;
const awayMessage =
  /timeout exceeded when trying to connect|timeout expired|Connection terminated|after calling end|Client has encountered a connection error/;

export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A connection that fails has the code of the system, not one of the database.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return awayState.test(code) || awayMessage.test(error.message);
}
