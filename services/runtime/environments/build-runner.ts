/** Executes the commands of a build. They run untrusted code (PEP 517 backends, `setup.py`), so the runtime
 *  executes them in the sandbox. */

export interface BuildCommand {
  /** The script that has these requirements. */
  readonly scriptId: string;
  /** The command with its arguments. `argv[0]` is an absolute path. */
  readonly argv: readonly [string, ...string[]];
  /** All environment variables of the command. It inherits no others. */
  readonly env: Readonly<Record<string, string>>;
  /** The working folder: an absolute path in `writable` or `readable`. */
  readonly cwd: string;
  /** Absolute paths of readable files and folders. The system's own folders are readable too. */
  readonly readable: readonly string[];
  /** Absolute paths of existing writable folders, mounted at the same paths. Their files must belong to this process's
   *  user afterwards. */
  readonly writable: readonly string[];
  /** Called with each chunk of output. While a returned promise is pending, reading is paused. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>;
  /** Kills the command and all its descendants when it aborts. */
  readonly signal: AbortSignal;
}

export interface BuildRunner {
  /** Executes a command with network access. Resolves when all its processes have ended and all output was delivered,
   *  even after an abort.
   *  @returns a null exit code if the command was ended by a signal
   *  @throws if the command could not be executed */
  run(command: BuildCommand): Promise<{ readonly exitCode: number | null }>;
}
