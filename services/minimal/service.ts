/** Supervises one process: starts it, restarts it after a crash, and stops it. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { HandedConnection } from '#services/shared/listen.ts';
import { isHealthy, untilSilent, type HealthPolicy } from './health.ts';
import { withCapabilities } from './privileges.ts';
import type { Relay } from './relay.ts';

const HEALTH_POLL_MS = 25;
const START_TIMEOUT_MS = 60_000;
/** The maximum number of start attempts. The service may be killed while it starts, for example by the out-of-memory
 *  killer. */
const START_ATTEMPTS = 3;
/** After running this long, a process counts as healthy again despite earlier crashes. */
const STABLE_MS = 60_000;
const MAX_RESTART_DELAY_MS = 30_000;

export interface ServiceOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The capabilities that the process keeps if it runs as root. If omitted, the process keeps all capabilities. */
  readonly capabilities?: readonly string[] | undefined;
  /** URLs that all return 200 once the service has started. */
  readonly healthUrls: readonly string[];
  /** Whether the service starts at the first connection. Such a service reports its own start, and accepts
   *  connections that are passed to it. */
  readonly onDemand: boolean;
  readonly relay: Relay;
  /** How long the service may be unresponsive before it is killed and restarted. */
  readonly healthPolicy?: HealthPolicy | undefined;
  readonly say: (line: string) => void;
  /** Called with a message when the process has exited on its own. */
  readonly onEnd?: ((what: string) => void) | undefined;
}

export interface Service {
  readonly name: string;
  /** Starts the service, and waits until it is healthy. If the process is killed during startup, it is restarted.
   *  @throws Error if the process exits for another reason, or if `signal` aborts */
  start(signal: AbortSignal): Promise<void>;
  /** Sends the process a stop signal, and kills the process after `timeoutMs`. Idempotent. */
  stop(timeoutMs: number): Promise<void>;
  /** Kills the process immediately. */
  kill(): void;
}

export interface ConnectableService extends Service {
  /** Passes a connection on this port to the process. The socket must be paused and unread. */
  hand(port: number, socket: Socket): void;
}

/**
 * Creates a service that restarts after each crash, first immediately, then with increasing delays. An unresponsive
 * process is killed and restarted.
 */
export function createService(options: ServiceOptions): ConnectableService {
  const { name, say } = options;
  let child: ChildProcess | undefined;
  let exited: Promise<string> = Promise.resolve('never started');
  const stopping = new AbortController();

  const launch = (): void => {
    child = launchProcess(options);
    exited = endOf(child);
  };

  const keepAlive = async (): Promise<void> => {
    for (let failures = 0; ;) {
      const startedMs = performance.now();
      const how = await untilEnded();
      if (stopping.signal.aborted) return;
      if (performance.now() - startedMs > STABLE_MS) failures = 0;
      const delayMs = restartDelayMs(failures);
      failures += 1;
      options.onEnd?.(`the ${name} exited (${how}); see its log`);
      say(
        `The ${name} exited (${how}); ` +
          `${delayMs === 0 ? 'restarting it' : `restarting it in ${delayMs / 1000} s`}`,
      );
      await wait(delayMs, undefined, { signal: stopping.signal });
      launch();
      void announceRecovery();
    }
  };

  /** Waits for the current process to exit.
   *  @returns how the process exited */
  const untilEnded = async (): Promise<string> => {
    const [present, end] = [child, exited];
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, stopping.signal]);
    const silences = options.healthUrls.map((url) =>
      untilSilent(url, signal, options.healthPolicy),
    );
    void Promise.race(silences).then((isSilent) => {
      if (!isSilent) return;
      say(`Killing the ${name}: it no longer responds`);
      killGroup(present);
    });
    const how = await end;
    over.abort();
    return how;
  };

  const announceRecovery = async (): Promise<void> => {
    const state = await untilHealthy(options.healthUrls, exited, stopping.signal);
    if (state === 'healthy') say(`The ${name} is running again`);
  };

  return {
    name,
    async start(signal) {
      for (let attempt = 1; ; attempt += 1) {
        launch();
        const state = await (options.onDemand
          ? untilStarted(child, exited, signal)
          : untilHealthy(options.healthUrls, exited, signal));
        signal.throwIfAborted();
        if (state === 'healthy') break;
        const wasKilled = state.startsWith('SIG');
        if (!wasKilled || attempt === START_ATTEMPTS)
          throw new Error(`The ${name} did not start (${state})`);
        say(`The ${name} exited during startup (${state}); restarting it`);
      }
      keepAlive().catch(() => undefined); // `stop` interrupted the wait.
    },
    async stop(timeoutMs) {
      stopping.abort();
      if (child?.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const timeout = new AbortController();
      const ended = exited.then(() => timeout.abort());
      await wait(timeoutMs, undefined, { signal: timeout.signal }).then(
        () => {
          say(`Killed the ${name}: it did not stop within ${timeoutMs / 1000} s`);
          killGroup(child);
        },
        () => undefined,
      );
      await ended;
    },
    kill() {
      stopping.abort();
      killGroup(child);
    },
    hand(port, socket) {
      const handed: HandedConnection = { connectedTo: port };
      child?.send(handed, socket, (error) => void (error !== null && socket.destroy()));
    },
  };
}

export function restartDelayMs(failures: number): number {
  return failures === 0
    ? 0
    : Math.min(MAX_RESTART_DELAY_MS, 1000 * 2 ** Math.min(failures - 1, 10));
}

function launchProcess(options: ServiceOptions): ChildProcess {
  const [program, ...args] =
    options.capabilities === undefined
      ? [process.execPath, ...options.args]
      : withCapabilities(options.capabilities, [process.execPath, ...options.args]);
  const child = spawn(program, args, {
    env: options.environment,
    // The child's standard input closes when this process ends, even if this process is killed.
    stdio: ['pipe', 'pipe', 'pipe', options.onDemand ? 'ipc' : 'ignore'],
    // Only this process may receive Ctrl-C, because it stops the other processes in order.
    detached: true,
  });
  child.stdin?.on('error', () => undefined); // Ignored, because the exit event contains the reason.
  for (const output of [child.stdout, child.stderr]) if (output) options.relay.attach(output);
  return child;
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      killGroup(child); // Kills the process's remaining children.
      resolve(signal ?? `exit code ${code}`);
    });
  });
}

/** Kills a service's process group. Each service leads its own group. */
function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // The group has no processes left, or only processes of other users, which the runtime stops.
    if (!['ESRCH', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}

/**
 * Waits until the service reports its start. The ports cannot be probed, because another process already listens on
 * them.
 */
async function untilStarted(
  child: ChildProcess | undefined,
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  const started = new Promise<string>((resolve) =>
    child?.once('message', () => resolve('healthy')),
  );
  const timeout = wait(START_TIMEOUT_MS, 'not ready in time', { signal, ref: false });
  return await Promise.race([started, exited, timeout.catch(() => 'stopped')]);
}

async function untilHealthy(
  urls: readonly string[],
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  let how: string | undefined;
  void exited.then((end) => (how = end));
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (how !== undefined) return how;
    if (signal.aborted) return 'stopped';
    const answers = await Promise.all(urls.map(isHealthy));
    if (answers.every(Boolean)) return 'healthy';
    await wait(HEALTH_POLL_MS);
  }
  return `${urls.join(' or ')} is not healthy`;
}
