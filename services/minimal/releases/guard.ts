/** Watches over a switch from one release to another: starts the other one, and when it is not well, the one before
 *  again. It is the release of before, so that nothing of the new one decides about itself. */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  bringsMigrations,
  type Installed,
  type Releases,
  type Switch,
} from '#services/shared/releases.ts';
import { bringDatabaseBack, forgetDatabase, keepDatabase, untilStill } from './kept-database.ts';
import { entryOf, guardedVariable, nodeOf } from './started-as.ts';

export interface GuardOptions {
  readonly releases: Releases;
  readonly dataDir: string;
  /** What to start when no switch is wanted. */
  readonly own: Installed;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: (line: string) => void;
  /** Longest time until a release says that it is up. */
  readonly startPatienceMs?: number;
  /** So long it has to stay up. */
  readonly settleMs?: number;
  /** Longest time that it has to end. */
  readonly stopPatienceMs?: number;
}

/** A release that was started. */
interface Started {
  readonly child: ChildProcess;
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  /** Resolves when all its services are well. */
  readonly ready: Promise<void>;
}

const usual = { startPatienceMs: 180_000, settleMs: 10_000, stopPatienceMs: 60_000 };

/** Goes on until a release ends by itself. @param signal asks it to end. @returns its exit code */
export async function guard(options: GuardOptions, signal: AbortSignal): Promise<number> {
  let present: Installed = options.releases.read('active') ?? options.own;
  let code = 0;
  do {
    const wanted = options.releases.read('switch');
    const started =
      wanted === undefined
        ? start(present, options, signal)
        : await carryOut(wanted, options, signal);
    present = options.releases.read('active') ?? options.own;
    code = await started.exited;
  } while (!signal.aborted && options.releases.read('switch') !== undefined);
  return code;
}

async function carryOut(
  wanted: Switch,
  options: GuardOptions,
  signal: AbortSignal,
): Promise<Started> {
  const { releases, say, dataDir, stopPatienceMs = usual.stopPatienceMs } = options;
  const { from, to } = wanted;
  // Of a guard that was killed something may be ending still.
  await untilStill(dataDir, stopPatienceMs);
  if (wanted.isWell === true) {
    stayWith(wanted, options);
    return start(to, options, signal);
  }
  if (wanted.isTried)
    return goBack(wanted, 'The machine or its supervisor ended meanwhile.', options, signal);
  forgetDatabase(dataDir);
  if (bringsMigrations(to, from)) keepDatabase(dataDir);
  releases.write('switch', { ...wanted, isTried: true });
  say(`Starting version ${to.version}`);
  const started = start(to, options, signal);
  const problem = await problemOf(started, options, signal);
  if (problem !== undefined) {
    await end(started, options);
    await untilStill(dataDir, stopPatienceMs);
    // Asked to end in the midst of it: whoever starts next goes back.
    if (signal.aborted) return started;
    return goBack(wanted, problem, options, signal);
  }
  // From here on it is the other one, whoever dies.
  releases.write('switch', { ...wanted, isTried: true, isWell: true });
  stayWith(wanted, options);
  say(`Version ${to.version} is at work`);
  return started;
}

/** Done twice it ends the same. */
function stayWith({ from, to, updateId }: Switch, { releases, dataDir }: GuardOptions): void {
  releases.write('active', { ...to, previous: from });
  releases.write('outcome', { updateId, kind: 'succeeded', reason: '' });
  forgetDatabase(dataDir);
  releases.remove('switch');
}

function goBack(
  { from, to, updateId }: Switch,
  reason: string,
  options: GuardOptions,
  signal: AbortSignal,
): Started {
  const { releases, say, dataDir } = options;
  say(`Version ${to.version} is not well: ${reason}`);
  say(`Going back to version ${from.version}`);
  bringDatabaseBack(dataDir);
  releases.write('outcome', { updateId, kind: 'rolled_back', reason });
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
  return { child, exited, ready };
}

/** Why a release that was started is not well; `undefined` where it is. */
async function problemOf(
  { exited, ready }: Started,
  { startPatienceMs = usual.startPatienceMs, settleMs = usual.settleMs }: GuardOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const over = new AbortController();
  const ended = exited.then((code) => `it ended with code ${code}; the logs say why`);
  const late = (ms: number, what: string | undefined) =>
    wait(ms, what, { signal: over.signal }).catch(() => what);
  const aborted = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve('it was asked to end'), { once: true }),
  );
  try {
    const up = ready.then(() => undefined);
    const patience = late(startPatienceMs, 'it was not up in time');
    const problem = await Promise.race([up, ended, patience, aborted]);
    if (problem !== undefined) return problem;
    return await Promise.race([late(settleMs, undefined), ended, aborted]);
  } finally {
    over.abort();
  }
}

async function end(
  { child, exited }: Started,
  { stopPatienceMs = usual.stopPatienceMs }: GuardOptions,
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
