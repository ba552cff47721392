/** How a command fails: a sentence for a person and a code for a program. */

/** What the program ends with. Those of its own lie where scripts' own seldom do (`sysexits.h`), as
 *  `run --follow` ends with the code of the script. */
export const exitCodes = {
  done: 0,
  /** What was asked about is not as it should be; a run ended badly without a code of its own. */
  failed: 1,
  /** As `timeout` has it. */
  timeout: 124,
  /** The exit code that shells use for Ctrl-C. */
  interrupted: 130,
  /** The exit code that shells use for a closed pipe. */
  closedPipe: 141,
  usage: 64,
  /** The platform refused it, or it contradicts what is there. */
  refused: 65,
  notFound: 66,
  unavailable: 69,
  internal: 70,
  inputOutput: 74,
  noPermission: 77,
  configuration: 78,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command. The message is a plain sentence that says what to do. */
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
