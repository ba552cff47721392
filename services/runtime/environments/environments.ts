/** The virtual environments for scripts on one host. Each environment is built from `requirements.txt` for its first
 *  run, and is read-only afterwards. Scripts with equal requirements share an environment. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { BuildRunner } from './build-runner.ts';
import { buildOnce, type BuilderDeps } from './builder.ts';
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
  /** A dedicated folder that all runtimes on this host share. Created if missing. */
  readonly folder: string;
  readonly runBuild: BuildRunner;
  /** Called with problems that do not affect any run, such as a folder that could not be removed. */
  readonly onProblem: (error: unknown) => void;
  /** The source of the machine's package index settings. Default: this process's environment. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** The maximum number of environments. Default: 200. */
  readonly maxEnvironments?: number;
  /** The maximum total size of all environments. Default: 20 GiB. */
  readonly maxBytes?: number;
  /** The time limit for a build, in milliseconds. Default: 600,000. */
  readonly buildTimeoutMs?: number;
}

export interface EnvironmentRequest {
  readonly scriptId: string;
  /** The text of `requirements.txt`, or an empty text for no requirements. */
  readonly requirements: string;
  /** The absolute path of an interpreter. */
  readonly pythonPath: string;
  /** The script's files, if requirements such as `-e .` or `-r more.txt` refer to them. The environment then belongs
   *  to this script, and a new version of the script gets a new environment. */
  readonly project?: { readonly folder: string; readonly version: string };
  /** When this value changes, the requirements are resolved again. */
  readonly resolution?: string;
  /** The previously resolved packages, which must be installed again. */
  readonly lock?: string;
  /** Called with each line of the build's output. The build pauses while a returned promise is pending. */
  readonly onLog: (line: string) => void | Promise<void>;
  readonly signal: AbortSignal;
}

export type EnvironmentResult =
  | {
      readonly status: 'ready';
      readonly environmentDir: string;
      /** The environment's interpreter. */
      readonly pythonPath: string;
      /** The installed packages as `name==version` lines, with hashes if known. */
      readonly lock: string;
      /** Whether this request waited for a build. */
      readonly built: boolean;
      readonly buildMs: number;
      /** Releases the environment. Idempotent. */
      readonly release: () => void;
      /** Keeps the environment after `release` until the returned function is called. */
      readonly hold: () => () => void;
    }
  | { readonly status: 'failed'; readonly detail: string };

const MAX_CACHE_BYTES = 2 * 1024 ** 3;
// The number of characters of a SHA-256 hash that form a key. Half a hash is long enough to be unique. Interpreter
// paths must be short, because they appear in the first line of scripts (`#!…`).
const KEY_LENGTH = 32;
const BUILD_ATTEMPTS = 3;

/** Opens this host's environments. Removes unfinished environments whose builders have exited. */
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
  readonly #parts: BuilderDeps;
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

  /** Returns the environment for a script's requirements, and builds it if necessary.
   *  @throws the reason of the signal, or the build runner's error */
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

  /** Returns the target of a lock. Interpreters with the same target can install the same files, even on different
   *  machines. */
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

  /** Evicts unused environments that exceed the limits. Never throws. */
  async tidy(): Promise<void> {
    await this.#catalog.evict(this.#bounds).catch(this.#options.onProblem);
  }

  /** Clears installer caches that exceed the cache limit. Never throws. */
  async boundCaches(): Promise<void> {
    const cache = join(this.#options.folder, 'cache');
    if ((await sizeOf(cache)) <= MAX_CACHE_BYTES) return;
    await removeFolder(cache).catch(this.#options.onProblem);
  }

  /** Returns the scripts that have their own environments or caches on this host. */
  async scripts(): Promise<readonly string[]> {
    const caches = await readdir(join(this.#options.folder, 'cache')).catch(noneWhereMissing);
    return [...new Set([...caches, ...(await this.#catalog.owners())])];
  }

  /** Removes a script's own environments and cache unless they are in use.
   *  @returns whether everything was removed */
  async forget(scriptId: string): Promise<boolean> {
    const isDone = await this.#catalog.removeOwned(scriptId);
    await removeFolder(this.#parts.cacheFolder(scriptId));
    return isDone;
  }

  /** Stops builds that no caller is waiting for. Resolves when no build is running. */
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

/** Returns the cached result for a key, or computes it. Failures are not cached. */
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
