/** Supervises a switch from one release to another. The guard starts the new release, and returns to the previous
 *  release if the new one is unhealthy. The guard is code of the previous release, so that the new release does not
 *  evaluate itself. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { compareVersions } from '#domain/update/update.ts';
import {
  bringsMigrations,
  type Installed,
  type Releases,
  type Switch,
} from '#services/shared/releases.ts';
import {
  restoreKeptDatabase,
  exchangeBack,
  exchangeDatabase,
  removeSetAside,
  removeKeptDatabase,
  keepDatabase,
  untilStopped,
} from './kept-database.ts';
import {
  problemOf,
  defaultObservation,
  type Observation,
  type Observed,
  type Watched,
} from './observation.ts';
import { entryOf, guardedVariable, nodeOf } from './started-as.ts';

export interface GuardOptions {
  readonly releases: Releases;
  readonly dataDir: string;
  /** The release to start if no other release is active. */
  readonly own: Installed;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The long-running services. */
  readonly services: readonly Watched[];
  readonly say: (line: string) => void;
  /** Timeouts, which default to `defaultObservation`. */
  readonly observation?: Partial<Observation>;
  /** The maximum time for a release to stop. */
  readonly stopTimeoutMs?: number;
}

interface Started extends Observed {
  readonly child: ChildProcess;
}

const defaultStopTimeoutMs = 60_000;
/** How long the previous database is retained for a rollback after an update. */
const keepMs = 24 * 60 * 60_000;

/** Starts the active release, or switches to the requested one. Continues until a release exits and no switch is
 *  requested.
 *  @param signal tells the release to exit
 *  @returns the release's exit code */
export async function guard(options: GuardOptions, signal: AbortSignal): Promise<number> {
  let present: Installed = options.releases.read('active') ?? options.own;
  let code = 0;
  do {
    const wanted = options.releases.read('switch');
    const started =
      wanted === undefined
        ? start(present, options, signal)
        : await performSwitch(wanted, options, signal);
    present = options.releases.read('active') ?? options.own;
    code = await started.exited;
  } while (!signal.aborted && options.releases.read('switch') !== undefined);
  return code;
}

async function performSwitch(
  wanted: Switch,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<Started> {
  const { releases, say, dataDir, stopTimeoutMs = defaultStopTimeoutMs } = options;
  const { to } = wanted;
  // A killed guard's processes may still be exiting.
  await untilStopped(dataDir, stopTimeoutMs);
  if (wanted.isWell === true) {
    keepRelease(wanted, options);
    return start(to, options, signal);
  }
  if (wanted.isTried)
    return rollBack(
      wanted,
      'The machine or its supervisor stopped during the update.',
      options,
      signal,
    );
  const tried = prepare(wanted, options);
  releases.write('switch', tried);
  say(`Starting version ${to.version}`);
  const started = start(to, options, signal);
  const observation = { ...defaultObservation, ...options.observation };
  const { services } = options;
  const problem = await problemOf(started, tried, { services, releases, observation }, signal);
  if (problem !== undefined) {
    await end(started, options);
    await untilStopped(dataDir, stopTimeoutMs);
    // The guard was stopped during the switch, and will roll back at its next start.
    if (signal.aborted) return started;
    return rollBack(tried, problem, options, signal);
  }
  // From here on, the other release stays active, even if the guard is killed.
  const well = { ...tried, isWell: true };
  releases.write('switch', well);
  keepRelease(well, options);
  say(`Version ${to.version} is running`);
  return started;
}

/** Prepares the database for the other release. Idempotent.
 *  @returns the switch, in its trial state */
function prepare(wanted: Switch, { releases, dataDir }: GuardOptions): Switch {
  const { from, to, restores } = wanted;
  if (restores !== undefined) {
    exchangeDatabase(dataDir);
    return { ...wanted, isTried: true };
  }
  releases.remove('copy');
  removeKeptDatabase(dataDir);
  const copy = bringsMigrations(to, from) ? keepDatabase(dataDir) : undefined;
  // Only newer releases get a challenge. An older release may not support challenges, and has proved that it can
  // execute runs.
  const isNewer = compareVersions(to.version, from.version) > 0;
  return {
    ...wanted,
    isTried: true,
    ...(copy !== undefined && { copied: { ...copy, madeAt: new Date().toISOString() } }),
    ...(isNewer && { challenge: randomUUID() }),
  };
}

/** Makes the release active and records the outcome. Idempotent. */
function keepRelease(
  { from, to, updateId, copied, restores }: Switch,
  { releases, dataDir }: GuardOptions,
): void {
  releases.write('active', { ...to, previous: from });
  if (copied !== undefined) {
    const expiresAt = new Date(Date.now() + keepMs).toISOString();
    releases.write('copy', { updateId, of: from, expiresAt, ...copied });
  }
  if (restores === undefined) {
    releases.write('outcome', { updateId, kind: 'succeeded', reason: '' });
  } else {
    // In the restored copy, the update is still active and the rollback is not recorded.
    releases.write('outcome', { ...restores, kind: 'rolled_back' });
    releases.remove('copy');
    removeSetAside(dataDir);
  }
  releases.remove('self-check');
  releases.remove('switch');
}

function rollBack(
  { from, to, updateId, restores }: Switch,
  reason: string,
  options: GuardOptions,
  signal: AbortSignal,
): Started {
  const { releases, say, dataDir } = options;
  say(`Version ${to.version} is unhealthy: ${reason}`);
  say(`Rolling back to version ${from.version}`);
  if (restores === undefined) restoreKeptDatabase(dataDir);
  else exchangeBack(dataDir);
  releases.write('outcome', { updateId, kind: 'rolled_back', reason });
  releases.remove('self-check');
  releases.remove('switch');
  return start(from, options, signal);
}

function start(release: Installed, options: GuardOptions, signal: AbortSignal): Started {
  const child = spawn(nodeOf(release), ['--max-semi-space-size=1', entryOf(release)], {
    env: { ...options.environment, [guardedVariable]: 'true' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // The release gets its own process group, so the guard forwards Ctrl-C to it.
    detached: true,
  });
  const stop = () => void child.kill('SIGTERM');
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const exited = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  void exited.then(() => signal.removeEventListener('abort', stop));
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message) => void (message === 'ready' && resolve()));
  });
  const restarted = new Promise<string>((resolve) => {
    child.on('message', (message) => void (isEnding(message) && resolve(message.ended)));
  });
  return { child, exited, ready, restarted };
}

/** Whether a message from the supervisor reports that a service has exited on its own. */
function isEnding(message: unknown): message is { readonly ended: string } {
  return typeof message === 'object' && message !== null && 'ended' in message;
}

async function end(
  { child, exited }: Started,
  { stopTimeoutMs = defaultStopTimeoutMs }: GuardOptions,
): Promise<void> {
  child.kill('SIGTERM');
  const over = new AbortController();
  const killing = wait(stopTimeoutMs, undefined, { signal: over.signal }).then(
    () => void child.kill('SIGKILL'),
    () => undefined,
  );
  await exited;
  over.abort();
  await killing;
}
