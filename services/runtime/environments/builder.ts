/** Builds each environment once per host, and publishes complete environments. */
import { randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { install, type Installed } from './build.ts';
import type { BuildRunner } from './build-runner.ts';
import type { Catalog } from './catalog.ts';
import { makeReadOnly, privateMode, removeFolder } from './folders.ts';
import { tryLock } from './host-lock.ts';
import type { IndexSettings } from './index-settings.ts';
import { installedPackages } from './installed.ts';
import type { Installer } from './installer.ts';
import type { Interpreter } from './interpreter.ts';
import type { Requirements } from './requirements.ts';
import { makeVirtualEnvironment, packagesOf } from './virtual-environment.ts';

export interface Order {
  readonly key: string;
  readonly scriptId: string;
  readonly requirements: Requirements;
  /** The previously resolved packages, which must be installed again. */
  readonly lock: string | undefined;
  readonly projectFolder: string | undefined;
  readonly interpreter: Interpreter;
  readonly say: (line: string) => void | Promise<void>;
  readonly signal: AbortSignal;
}

export interface BuilderDeps {
  readonly catalog: Catalog;
  readonly runner: BuildRunner;
  readonly settings: IndexSettings;
  readonly findInstaller: (interpreter: Interpreter) => Promise<Installer>;
  /** Returns the cache folder for a script's builds. */
  readonly cacheFolder: (scriptId: string) => string;
  readonly onProblem: (error: unknown) => void;
}

/** The file in the environment's folder that lists the installed packages. */
const LOCK_FILE = 'orchestrator-lock.txt';
const RETRY_MS = 100;

/** Builds the environment, or waits while another process builds it.
 *  @returns undefined when the environment is ready, otherwise the reason why the build failed
 *  @throws the reason of the signal, or the runner's error */
export async function buildOnce(deps: BuilderDeps, order: Order): Promise<string | undefined> {
  const { catalog } = deps;
  let hasSaid = false;
  for (;;) {
    const unlock = await tryLock(catalog.path('locks'), order.key);
    if (unlock !== undefined) {
      try {
        return catalog.has(order.key) ? undefined : await build(deps, order);
      } finally {
        await unlock();
      }
    }
    if (!hasSaid) await order.say('Waiting for another process to build the same environment.');
    hasSaid = true;
    await setTimeout(RETRY_MS, undefined, { signal: order.signal });
    if (catalog.has(order.key)) return undefined;
  }
}

async function build(deps: BuilderDeps, order: Order): Promise<string | undefined> {
  const { catalog } = deps;
  const directory = `${order.key}-${randomUUID().slice(0, 8)}`;
  const environment = catalog.path('environments', directory);
  const workFolder = catalog.path('work', directory);
  const endUse = catalog.use(directory);
  let isFinished = false;
  try {
    const isPrivate = order.requirements.kind === 'private';
    await makeVirtualEnvironment(environment, order.interpreter);
    await chmod(environment, privateMode);
    const installed = await installInto(deps, order, environment, workFolder);
    if (installed.status === 'failed') return installed.problem;
    const packages = packagesOf(environment, order.interpreter);
    const lock = order.lock ?? installed.choice ?? (await installedPackages(packages));
    await writeLock(environment, lock);
    const sizeBytes = await makeReadOnly(environment, isPrivate);
    const owner = isPrivate ? { scriptId: order.scriptId } : {};
    await catalog.publish(order.key, { directory, lock, sizeBytes, ...owner });
    isFinished = true;
    return undefined;
  } finally {
    // Ignores errors. The next start removes leftovers.
    await removeFolder(workFolder).catch(deps.onProblem);
    if (!isFinished) await removeFolder(environment).catch(deps.onProblem);
    endUse();
  }
}

async function installInto(
  deps: BuilderDeps,
  order: Order,
  environment: string,
  workFolder: string,
): Promise<Installed> {
  const { requirements, lock, interpreter, scriptId, projectFolder, say, signal } = order;
  if (requirements.kind === 'none') return { status: 'installed', choice: undefined };
  const isPrivate = requirements.kind === 'private';
  const installer = await deps.findInstaller(interpreter);
  await say(`Building the environment: Python ${interpreter.version}, ${installer.name}.`);
  return install(
    {
      scriptId,
      environment,
      workFolder,
      // Uses a script's cache only for the script's private environments. Untrusted code can write to the cache, so a
      // shared environment must not be built from it.
      cacheFolder: isPrivate ? deps.cacheFolder(scriptId) : null,
      projectFolder: isPrivate ? projectFolder : undefined,
      kind: requirements.kind,
      requirements: requirements.text,
      lock,
      interpreter,
      installer,
      settings: deps.settings,
      onLine: say,
      signal,
    },
    deps.runner,
  );
}

async function writeLock(environment: string, lock: string): Promise<void> {
  // Removes any existing file first, because installed packages may have created a link at this path.
  const path = join(environment, LOCK_FILE);
  await removeFolder(path);
  await writeFile(path, lock, { flag: 'wx' });
  await chmod(path, 0o444);
}
