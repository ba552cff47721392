/** Supervises a switch from one release to another: starts the other release, and returns to the previous one if the
 *  other is not healthy. The guard is code of the previous release, so that the new release does not judge itself. */
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
  bringDatabaseBack,
  exchangeBack,
  exchangeDatabase,
  forgetAside,
  forgetDatabase,
  keepDatabase,
  untilStill,
} from './kept-database.ts';
import {
  problemOf,
  usualObservation,
  type Observation,
  type Observed,
  type Watched,
} from './observation.ts';
import { entryOf, guardedVariable, nodeOf } from './started-as.ts';

export interface GuardOptions {
  readonly releases: Releases;
  readonly dataDir: string;
  /** What to start when no switch is wanted. */
  readonly own: Installed;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Those that are always up. */
  readonly services: readonly Watched[];
  readonly say: (line: string) => void;
  /** How long what may take. Default: `usualObservation`. */
  readonly observation?: Partial<Observation>;
  /** Longest time that a release has to end. */
  readonly stopPatienceMs?: number;
}

interface Started extends Observed {
  readonly child: ChildProcess;
}

const usualStopPatienceMs = 60_000;
/** How long the database from before an update is kept for its rollback. */
const keepMs = 24 * 60 * 60_000;

/** Runs until a release exits on its own. @param signal asks it to end. @returns its exit code */
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
  const { releases, say, dataDir, stopPatienceMs = usualStopPatienceMs } = options;
  const { to } = wanted;
  // Of a guard that was killed something may be ending still.
  await untilStill(dataDir, stopPatienceMs);
  if (wanted.isWell === true) {
    stayWith(wanted, options);
    return start(to, options, signal);
  }
  if (wanted.isTried)
    return goBack(
      wanted,
      'The machine or its supervisor stopped during the update.',
      options,
      signal,
    );
  const tried = prepare(wanted, options);
  releases.write('switch', tried);
  say(`Starting version ${to.version}`);
  const started = start(to, options, signal);
  const observation = { ...usualObservation, ...options.observation };
  const { services } = options;
  const problem = await problemOf(started, tried, { services, releases, observation }, signal);
  if (problem !== undefined) {
    await end(started, options);
    await untilStill(dataDir, stopPatienceMs);
    // Stopped during the switch: the next start rolls back.
    if (signal.aborted) return started;
    return goBack(tried, problem, options, signal);
  }
  // From here on the other release is active, also after a crash.
  const well = { ...tried, isWell: true };
  releases.write('switch', well);
  stayWith(well, options);
  say(`Version ${to.version} is running`);
  return started;
}

/** Makes the database ready for the other release. Done twice it ends the same.
 *  @returns the switch as it is tried */
function prepare(wanted: Switch, { releases, dataDir }: GuardOptions): Switch {
  const { from, to, restores } = wanted;
  if (restores !== undefined) {
    exchangeDatabase(dataDir);
    return { ...wanted, isTried: true };
  }
  releases.remove('copy');
  forgetDatabase(dataDir);
  const copy = bringsMigrations(to, from) ? keepDatabase(dataDir) : undefined;
  // An older release does not know challenges; it has executed runs before.
  const isNewer = compareVersions(to.version, from.version) > 0;
  return {
    ...wanted,
    isTried: true,
    ...(copy !== undefined && { copied: { ...copy, madeAt: new Date().toISOString() } }),
    ...(isNewer && { challenge: randomUUID() }),
  };
}

/** Done twice it ends the same. */
function stayWith(
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
    // The copy does not contain this rollback, and records the update as under way.
    releases.write('outcome', { ...restores, kind: 'rolled_back' });
    releases.remove('copy');
    forgetAside(dataDir);
  }
  releases.remove('self-check');
  releases.remove('switch');
}

function goBack(
  { from, to, updateId, restores }: Switch,
  reason: string,
  options: GuardOptions,
  signal: AbortSignal,
): Started {
  const { releases, say, dataDir } = options;
  say(`Version ${to.version} is unhealthy: ${reason}`);
  say(`Rolling back to version ${from.version}`);
  if (restores === undefined) bringDatabaseBack(dataDir);
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
    // Ctrl-C reaches the guard alone, which hands it on.
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

/** The message of a supervisor about a service that has exited on its own. */
function isEnding(message: unknown): message is { readonly ended: string } {
  return typeof message === 'object' && message !== null && 'ended' in message;
}

async function end(
  { child, exited }: Started,
  { stopPatienceMs = usualStopPatienceMs }: GuardOptions,
): Promise<void> {
  child.kill('SIGTERM');
  const over = new AbortController();
  const killing = wait(stopPatienceMs, undefined, { signal: over.signal }).then(
    () => void child.kill('SIGKILL'),
    () => undefined,
  );
  await exited;
  over.abort();
  await killing;
}
