/** Manages the launcher process: starts it once, restarts it after a crash, and stops it with the runtime. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { makeOwnFolder, socketsParent } from '../own-folders.ts';
import { connectTo, untilListening } from './listening.ts';
import { SandboxError } from './sandbox.ts';

const PROGRAM = fileURLToPath(new URL('../python/launcher.py', import.meta.url));
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
const STOP_TIMEOUT_MS = 15_000;
const FIRST_RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;

type LauncherProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export interface LauncherOptions {
  /** The absolute path of a Python interpreter, version 3.9 or newer, which must not be a version manager's shim. */
  readonly python: string;
  /** The absolute path of a folder that only the launcher uses. Leftovers in this folder are removed. */
  readonly runsFolder: string;
  /** Whether to accept runs even if a required layer is missing. Default: false. */
  readonly lenient?: boolean;
  /** Layers to disable, as if the machine did not support them. Default: none. */
  readonly without?: readonly string[];
  /** Called with each line that the launcher or a supervisor writes to standard error. */
  readonly onLog: (line: string) => void;
}

/** Keeps one launcher process alive and connects to it. */
export class Launcher {
  readonly #options: LauncherOptions;
  #socketFolder: string | undefined;
  #process: LauncherProcess | undefined;
  #listening: Promise<string> | undefined;
  #restartMs = FIRST_RESTART_MS;
  #complaint = 'no error output';
  #stopping = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /** The process ID of the current launcher, if it is alive. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts the launcher. Resolves when it listens.
   *  @throws SandboxError if it does not start */
  async start(): Promise<void> {
    this.#stopping = false;
    // The name is short, because a Unix socket path has at most 107 bytes.
    this.#socketFolder ??= await makeOwnFolder(socketsParent, 'orch-launcher');
    this.#listening ??= this.#launch();
    await this.#listening;
  }

  /** Opens a connection for one run or probe.
   *  @throws SandboxError if the launcher is not running */
  async connect(): Promise<Socket> {
    if (this.#listening === undefined) throw new SandboxError('launcher', 'not started');
    return await connectTo('launcher', await this.#listening);
  }

  /** Stops accepting runs. Resolves when the launcher and the supervisors have exited. The channels of all runs must
   *  be closed. Idempotent, and may be called before `start()`. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const running = this.#process;
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      const exited = once(running, 'exit');
      running.stdin.end();
      const impatient = setTimeout(() => running.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(impatient);
    }
    this.#listening = undefined;
    if (this.#socketFolder !== undefined) {
      await rm(this.#socketFolder, { recursive: true, force: true });
      this.#socketFolder = undefined;
    }
  }

  #launch(): Promise<string> {
    const path = join(this.#socketFolder ?? '', `${Date.now().toString(36)}.sock`);
    const { python, runsFolder } = this.#options;
    const launched = spawn(
      python,
      ['-I', '-S', PROGRAM, path, runsFolder, ...layerFlags(this.#options)],
      // Starts a new session, so that the launcher receives no signals for the runtime's terminal or process group.
      { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT, cwd: '/', detached: true },
    );
    this.#process = launched;
    launched.stdin.on('error', () => undefined);
    createInterface({ input: launched.stderr }).on('line', (line) => {
      this.#complaint = line;
      this.#options.onLog(line);
    });
    launched.once('exit', (code, signal) => this.#restart(code, signal));
    const listening = this.#whenListening(launched, path);
    // Prevents an unhandled rejection. Callers that wait for a connection receive the error.
    listening.catch(() => undefined);
    return listening;
  }

  async #whenListening(launched: LauncherProcess, path: string): Promise<string> {
    await untilListening('launcher', launched, () => this.#complaint);
    this.#restartMs = FIRST_RESTART_MS;
    return path;
  }

  #restart(code: number | null, signal: string | null): void {
    if (this.#stopping) return;
    this.#options.onLog(`launcher exited (${signal ?? code}); restarting it`);
    const waited = Promise.withResolvers<void>();
    this.#listening = waited.promise.then(() => {
      if (this.#stopping) throw new SandboxError('launcher', 'stopped');
      return this.#launch();
    });
    this.#listening.catch(() => undefined);
    setTimeout(waited.resolve, this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, MAX_RESTART_MS);
  }
}

/** Returns the arguments for layers, for the launcher and keepers. */
export function layerFlags({ lenient = false, without = [] }: LauncherOptions): string[] {
  return [...(lenient ? ['--lenient'] : []), ...without.map((name) => `--without=${name}`)];
}
