/** How the commands of a build are executed. They run foreign code (PEP 517 back ends, `setup.py`), so
 *  the runtime executes them in the sandbox. */

export interface BuildCommand {
  /** Whose requirements these are. */
  readonly scriptId: string;
  /** `argv[0]` is an absolute path. */
  readonly argv: readonly [string, ...string[]];
  /** The complete environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path; one of `writable` or `readable`. */
  readonly cwd: string;
  /** Absolute paths of files and folders that must be seen besides the system's own. */
  readonly readable: readonly string[];
  /** Absolute paths of existing folders that it may write to, seen at the same paths. They have to
   *  belong to this process's user afterwards. */
  readonly writable: readonly string[];
  /** Takes output as it comes. While a returned promise is pending, no more is read. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>;
  /** When it aborts, the command and everything that it started is killed. */
  readonly signal: AbortSignal;
}

export interface BuildRunner {
  /** Executes a command with access to the network. Resolves when it and everything that it started
   *  has ended and all output was taken, also after an abort.
   *  @returns null as exit code when it was ended by a signal
   *  @throws when it could not be executed at all */
  run(command: BuildCommand): Promise<{ readonly exitCode: number | null }>;
}
