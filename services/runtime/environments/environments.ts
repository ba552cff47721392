/** The virtual environments of scripts on one host: built from `requirements.txt` at the first run,
 *  shared by equal requirements, read-only once they are finished. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { BuildRunner } from './build-runner.ts';
import { buildOnce, type BuilderParts } from './builder.ts';
import { Catalog, type Bounds } from './catalog.ts';
import { environmentKey, type KeyParts } from './environment-key.ts';
import { Flights } from './flight.ts';
import { removeFolder, sizeOf } from './folders.ts';
import { readIndexSettings } from './index-settings.ts';
import { findInstaller, NoInstaller, type Installer } from './installer.ts';
import { askInterpreter, type Interpreter } from './interpreter.ts';
import { readRequirements } from './requirements.ts';
import { pythonOf } from './virtual-environment.ts';

export interface EnvironmentsOptions {
  /** Belongs to the environments alone; shared by the processes of this host. Made when missing. */
  readonly folder: string;
  readonly runBuild: BuildRunner;
  /** Told of what went wrong without harm to a run, such as a folder that could not be removed. */
  readonly onProblem: (error: unknown) => void;
  /** Where the machine's settings for package indexes are read. Default: the process's own. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Default: 200. */
  readonly maxEnvironments?: number;
  /** Default: 20 GiB. */
  readonly maxBytes?: number;
  /** Default: 600,000. */
  readonly buildTimeoutMs?: number;
}

export interface EnvironmentRequest {
  readonly scriptId: string;
  /** Text of `requirements.txt`; empty for none. */
  readonly requirements: string;
  /** Absolute path of an interpreter. */
  readonly pythonPath: string;
  /** The script's files, which requirements such as `-e .` or `-r more.txt` name. Such an environment is
   *  the script's own, and a new version makes a new one. */
  readonly project?: { readonly folder: string; readonly version: string };
  /** A new value resolves the requirements anew. */
  readonly resolution?: string;
  /** What was chosen for the requirements before: exactly that is wanted. */
  readonly lock?: string;
  /** Takes the build's output line by line. While a returned promise is pending, the build waits. */
  readonly onLog: (line: string) => void | Promise<void>;
  readonly signal: AbortSignal;
}

export type EnvironmentResult =
  | {
      readonly status: 'ready';
      readonly environmentDir: string;
      /** The environment's interpreter. */
      readonly pythonPath: string;
      /** What is installed: `name==version` lines, with hashes where they are known. */
      readonly lock: string;
      /** Whether this request had to wait for a build. */
      readonly built: boolean;
      readonly buildMs: number;
      /** The environment is kept until then. Safe twice. */
      readonly release: () => void;
      /** Keeps the environment beyond `release`, until the returned function is called. */
      readonly hold: () => () => void;
    }
  | { readonly status: 'failed'; readonly detail: string };

const MAX_CACHE_BYTES = 2 * 1024 ** 3;
// Half of a SHA-256 is unique enough, and the first line of a script (`#!…`) has little room.
const KEY_LENGTH = 32;
const BUILD_ATTEMPTS = 3;

/** Opens the environments of this host, and removes what processes that died left unfinished. */
export async function openEnvironments(options: EnvironmentsOptions): Promise<Environments> {
  const catalog = new Catalog(options.folder);
  await catalog.open();
  const environments = new Environments(options, catalog);
  await environments.tidy();
  await environments.boundCaches();
  return environments;
}

export class Environments {
  readonly #options: EnvironmentsOptions;
  readonly #catalog: Catalog;
  readonly #bounds: Bounds;
  readonly #parts: BuilderParts;
  readonly #flights = new Flights<string | undefined>();
  readonly #interpreters = new Map<string, Promise<Interpreter>>();
  readonly #installers = new Map<string, Promise<Installer>>();

  constructor(options: EnvironmentsOptions, catalog: Catalog) {
    const variables = options.variables ?? process.env;
    const settings = readIndexSettings(variables);
    this.#options = options;
    this.#catalog = catalog;
    this.#bounds = {
      maxEnvironments: options.maxEnvironments ?? 200,
      maxBytes: options.maxBytes ?? 20 * 1024 ** 3,
    };
    this.#parts = {
      catalog,
      settings,
      runner: options.runBuild,
      cacheFolder: (scriptId) => join(options.folder, 'cache', scriptId),
      findInstaller: (interpreter) =>
        remember(this.#installers, interpreter.executable, () =>
          findInstaller(interpreter, settings, variables['PATH'] ?? ''),
        ),
      onProblem: options.onProblem,
    };
  }

  /** The environment that a script's requirements ask for, built when there is none yet.
   *  @throws the reason of the signal; what the build runner throws */
  async ensure(request: EnvironmentRequest): Promise<EnvironmentResult> {
    const { project, pythonPath, resolution, lock, scriptId, signal } = request;
    signal.throwIfAborted();
    const interpreter = await this.#interpreter(pythonPath);
    const requirements = readRequirements(request.requirements);
    const { settings } = this.#parts;
    const projectVersion = project?.version;
    const parts = { requirements, interpreter, settings, scriptId, projectVersion, resolution };
    const chosenHere = this.#ready(keyOf({ ...parts, lock: undefined }), 0, false);
    if (chosenHere?.status === 'ready') {
      if (lock === undefined || chosenHere.lock === lock) return chosenHere;
      chosenHere.release();
    }
    const key = keyOf({ ...parts, lock });

    const started = performance.now();
    for (let attempt = 0; attempt <= BUILD_ATTEMPTS; attempt += 1) {
      const buildMs = attempt === 0 ? 0 : Math.round(performance.now() - started);
      const ready = this.#ready(key, buildMs, attempt > 0);
      if (ready !== undefined) return ready;
      const projectFolder = project?.folder;
      const order = { key, scriptId, requirements, lock, projectFolder, interpreter };
      const work = (say: EnvironmentRequest['onLog'], abort: AbortSignal) =>
        this.#build({ ...order, say, signal: abort });
      const problem = await this.#flights.join(key, work, request.onLog, signal);
      if (problem !== undefined) return { status: 'failed', detail: problem };
    }
    throw new Error(`environment ${key} was deleted right after it was built`);
  }

  /** What a lock is made for: interpreters and machines that can install the same files. */
  async targetOf(pythonPath: string): Promise<string> {
    return (await this.#interpreter(pythonPath)).platform;
  }

  #interpreter(pythonPath: string): Promise<Interpreter> {
    return remember(this.#interpreters, pythonPath, () => askInterpreter(pythonPath));
  }

  #ready(key: string, buildMs: number, built: boolean): EnvironmentResult | undefined {
    const lease = this.#catalog.lease(key);
    if (lease === undefined) return undefined;
    const { directory, lock } = lease.environment;
    const hold = () => this.#catalog.use(directory);
    const environmentDir = this.#catalog.path('environments', directory);
    const pythonPath = pythonOf(environmentDir);
    const release = () => lease.release();
    return { status: 'ready', environmentDir, pythonPath, lock, built, buildMs, release, hold };
  }

  async #build(order: Parameters<typeof buildOnce>[1]): Promise<string | undefined> {
    const timeoutMs = this.#options.buildTimeoutMs ?? 600_000;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([order.signal, timeout]);
    try {
      const problem = await buildOnce(this.#parts, { ...order, signal });
      if (problem === undefined) await this.tidy();
      return problem;
    } catch (error) {
      if (error instanceof NoInstaller) return error.message;
      if (!timeout.aborted || order.signal.aborted) throw error;
      return `The environment was not built within ${timeoutMs / 1000} seconds.`;
    }
  }

  /** Removes what is over the bounds and not in use. Never throws. */
  async tidy(): Promise<void> {
    await this.#catalog.evict(this.#bounds).catch(this.#options.onProblem);
  }

  /** Starts anew with installers' caches that grew too large. Never throws. */
  async boundCaches(): Promise<void> {
    const cache = join(this.#options.folder, 'cache');
    if ((await sizeOf(cache)) <= MAX_CACHE_BYTES) return;
    await removeFolder(cache).catch(this.#options.onProblem);
  }

  /** Scripts that have something of their own here. */
  async scripts(): Promise<readonly string[]> {
    const caches = await readdir(join(this.#options.folder, 'cache')).catch(noneWhereMissing);
    return [...new Set([...caches, ...(await this.#catalog.owners())])];
  }

  /** Removes what is a script's own and not in use. @returns whether nothing is left */
  async forget(scriptId: string): Promise<boolean> {
    const isDone = await this.#catalog.removeOwned(scriptId);
    await removeFolder(this.#parts.cacheFolder(scriptId));
    return isDone;
  }

  /** Resolves when no build is under way; those that nobody waits for are ended. */
  settle(): Promise<void> {
    return this.#flights.settle();
  }
}

function keyOf(parts: KeyParts): string {
  return environmentKey(parts).slice(0, KEY_LENGTH);
}

function noneWhereMissing(error: unknown): readonly string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/** The answer for a key, asked once; a failure is not remembered. */
function remember<T>(
  answers: Map<string, Promise<T>>,
  key: string,
  ask: () => Promise<T>,
): Promise<T> {
  let answer = answers.get(key);
  if (answer === undefined) {
    answer = ask();
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
  }
  return answer;
}
