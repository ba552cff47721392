/** Manages the lifecycle of a process: starting, running, and stopping within a time limit. */
import { readConfig, unknownVariables, ConfigError, type Settings } from './config.ts';
import { collectWhenIdle } from './idle-collection.ts';
import { createLogger, type Logger } from './logger.ts';

const STOP_DEADLINE_MS = 20_000;

export interface Running {
  /** Stops everything that was started, in order. Called only once. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** The time limit for `stop`, after which the process exits anyway. Default: 20 s. */
  readonly stopDeadlineMs?: number | (() => number);
}

/** Runs a process until it exits. SIGTERM and SIGINT stop the process. With `ORCH_SUPERVISED`, the end of standard
 *  input also stops it. An unhandled error is logged, and the process exits with code 1.
 *  @param name the service name in logs
 *  @param start starts the service; `signal` is aborted if the process must stop during the start */
export async function runProcess(
  name: string,
  start: (signal: AbortSignal, logger: Logger) => Promise<Running>,
  options: ProcessOptions = {},
): Promise<void> {
  const { supervised, onDemand, logLevel, warmUp } = ownConfig();
  if (warmUp) process.exit(0);
  const logger = createLogger(name, logLevel);
  const stopping = new AbortController();
  const asked = untilAsked(supervised, logger).then(() => {
    stopping.abort();
    const { stopDeadlineMs = STOP_DEADLINE_MS } = options;
    endBy(typeof stopDeadlineMs === 'number' ? stopDeadlineMs : stopDeadlineMs(), logger);
  });
  endOnUnhandled(logger);
  for (const problem of unknownVariables()) logger.warn({ problem }, 'unknown setting');
  try {
    const running = await start(stopping.signal, logger);
    logger.info('started');
    collectWhenIdle();
    if (onDemand) process.send?.('started');
    await asked;
    await running.stop();
    logger.info('stopped');
    process.exit(0);
  } catch (error) {
    if (stopping.signal.aborted && isAbort(error)) process.exit(0);
    fail(error, logger);
  }
}

/** Ignores errors here, because they are reported together with the errors in the process's other settings. */
function ownConfig(): Pick<Settings, 'supervised' | 'onDemand' | 'logLevel' | 'warmUp'> {
  try {
    return readConfig(['supervised', 'onDemand', 'logLevel', 'warmUp']);
  } catch {
    return { supervised: false, onDemand: false, logLevel: 'info', warmUp: false };
  }
}

function endBy(deadlineMs: number, logger: Logger): void {
  setTimeout(() => {
    logger.error({ deadlineMs }, 'shutdown timed out');
    process.exit(1);
  }, deadlineMs).unref();
}

/** Prints configuration errors for the operator. All other errors are logged. */
function fail(error: unknown, logger: Logger): never {
  if (error instanceof ConfigError) {
    logger.fatal({ problems: error.problems }, 'invalid configuration');
  } else {
    logger.fatal({ error }, 'process failed');
  }
  process.exit(1);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function untilAsked(supervised: boolean, logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    const stop = (reason: string): void => {
      logger.info({ reason }, 'stopping');
      resolve();
    };
    process.once('SIGTERM', () => stop('SIGTERM'));
    process.once('SIGINT', () => stop('SIGINT'));
    if (!supervised) return;
    // The supervisor holds the other end of this pipe, so the pipe closes even if the supervisor is killed.
    process.stdin.once('end', () => stop('the supervisor has exited'));
    process.stdin.once('error', () => stop('the supervisor has exited'));
    process.stdin.resume();
  });
}

function endOnUnhandled(logger: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => {
      logger.fatal({ error }, 'unhandled error');
      process.exit(1);
    });
  }
}
