/** Executes a build's commands. They run untrusted code (PEP 517 backends, `setup.py`), so the runtime executes them
 *  in the sandbox. */

export interface BuildCommand {
  /** The script whose requirements are installed. */
  readonly scriptId: string;
  /** The command with its arguments. `argv[0]` is an absolute path. */
  readonly argv: readonly [string, ...string[]];
  /** All environment variables of the command. It inherits no others. */
  readonly env: Readonly<Record<string, string>>;
  /** The working folder, an absolute path in `writable` or `readable`. */
  readonly cwd: string;
  /** Absolute paths of readable files and folders. System folders are also readable. */
  readonly readable: readonly string[];
  /**
   * Absolute paths of existing writable folders, which are mounted at the same paths. After the command, their files
   * must belong to this process's user.
   */
  readonly writable: readonly string[];
  /** Called with each chunk of output. Reading pauses while a returned promise is pending. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>;
  /** When aborted, kills the command and all its descendants. */
  readonly signal: AbortSignal;
}

export interface BuildRunner {
  /** Executes a command with network access. Resolves when all its processes have exited and all output has been
   *  delivered, even after an abort.
   *  @returns a null exit code if a signal killed the command
   *  @throws if the command could not be executed */
  run(command: BuildCommand): Promise<{ readonly exitCode: number | null }>;
}
