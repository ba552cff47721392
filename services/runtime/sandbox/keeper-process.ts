/** Starts and stops a keeper: a warm interpreter of a script's environment, which is forked for each run. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { makeBareEnvironment, pythonOf } from '../environments/virtual-environment.ts';
import { makeOwnFolder, socketsParent } from '../own-folders.ts';
import { connectTo, untilListening } from './listening.ts';
import type { WarmStart } from './sandbox.ts';

/** The folder with the module that replaces `encodings` and starts the keeper. */
const HOOK = fileURLToPath(new URL('../python/warm', import.meta.url));
const LIFE_LINE = 3;

/** Specifies a keeper. Runs with equal specifications can share a keeper. */
export interface KeeperOrder extends WarmStart {
  readonly scriptId: string;
  /** The path of the environment's interpreter inside the sandbox. */
  readonly python: string;
  /** The file that the keeper executes, relative to the workspace. */
  readonly entrypoint: string;
}

export interface KeeperOptions {
  readonly runsFolder: string;
  /** The command-line arguments that select the layers, as for the launcher. */
  readonly flags: readonly string[];
  readonly onLog: (line: string) => void;
}

export class KeeperProcess {
  readonly #process: ChildProcess & { readonly stdout: Readable };
  readonly #socketFolder: string;
  readonly #exited: Promise<unknown>;
  #isAlive = true;

  private constructor(started: ChildProcess & { readonly stdout: Readable }, socketFolder: string) {
    this.#process = started;
    this.#socketFolder = socketFolder;
    this.#exited = once(started, 'exit').then(() => {
      this.#isAlive = false;
    });
  }

  /** Starts a keeper. Resolves when it accepts runs.
   *  @throws SandboxError if it does not start */
  static async start(order: KeeperOrder, options: KeeperOptions): Promise<KeeperProcess> {
    const socketFolder = await makeOwnFolder(socketsParent, 'orch-keeper');
    const config = {
      socket: socketPath(socketFolder),
      runs: options.runsFolder,
      flags: options.flags,
      python: order.python,
      modules: order.modules,
    };
    // An interpreter reads `._pth` files, zip archives and `encodings` before any platform code can prevent this.
    // Packages can place such files in the script's environment. Therefore, the keeper starts in an environment that
    // only the platform writes. Inside the sandbox, it switches to the script's environment.
    const environment = join(socketFolder, 'environment');
    await makeBareEnvironment(environment, order.interpreter);
    // The interpreter opens the script's file inside the sandbox after it has imported `site`.
    const script = `/workspaces/${order.scriptId}/${order.entrypoint}`;
    const started = spawn(pythonOf(environment), [script], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...startVariables, PYTHONPATH: HOOK, ORCH_KEEPER: JSON.stringify(config) },
      cwd: '/',
      detached: true,
    }) as ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
    lifeLineOf(started).on('error', () => undefined);
    let complaint = 'no error output';
    createInterface({ input: started.stderr }).on('line', (line) => {
      complaint = line;
      options.onLog(line);
    });
    const keeper = new KeeperProcess(started, socketFolder);
    try {
      await untilListening('keeper', started, () => complaint);
    } catch (error) {
      await keeper.close();
      throw error;
    }
    return keeper;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Opens a connection for one run.
   *  @throws SandboxError if the keeper has exited */
  connect(): Promise<Socket> {
    return connectTo('keeper', socketPath(this.#socketFolder));
  }

  /** Stops accepting runs. Resolves when its runs have finished and the keeper has exited. Idempotent. */
  async close(): Promise<void> {
    lifeLineOf(this.#process).end();
    await this.#exited;
    await rm(this.#socketFolder, { recursive: true, force: true });
  }

  /** Kills the keeper. Active runs continue. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** The variables that an interpreter reads when it starts. */
export const startVariables = {
  LANG: 'C.UTF-8',
  // Disables the buffering of output to a pipe, because users follow the log live.
  PYTHONUNBUFFERED: '1',
  PYTHONDONTWRITEBYTECODE: '1',
} as const;

function lifeLineOf({ stdio }: ChildProcess): Writable {
  return stdio[LIFE_LINE] as Writable;
}

function socketPath(folder: string): string {
  return join(folder, 'runs.sock');
}
