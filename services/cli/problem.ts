/** The failure of a command: a message for the user and an exit code for programs. */

/** The exit codes of the program. `run --follow` returns the exit code of the script, so most of the codes are from
 *  `sysexits.h`, which scripts seldom use. */
export const exitCodes = {
  done: 0,
  /** The check found a problem, or a run failed without an exit code. */
  failed: 1,
  /** The exit code of timeout(1). */
  timeout: 124,
  /** The exit code that shells use for Ctrl-C. */
  interrupted: 130,
  /** The exit code that shells use for a closed pipe. */
  closedPipe: 141,
  usage: 64,
  /** The platform refused the request, or the request conflicts with the current state. */
  refused: 65,
  notFound: 66,
  unavailable: 69,
  internal: 70,
  inputOutput: 74,
  noPermission: 77,
  configuration: 78,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with an error. The message says what to do next. */
export class CommandProblem extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandProblem';
    this.exitCode = exitCode;
  }
}

export const usageProblem = (message: string): CommandProblem =>
  new CommandProblem(exitCodes.usage, message);
