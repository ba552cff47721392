/** The lifecycle of a process: start, run, and stop in time on request. */
import { readConfig, unknownVariables, ConfigError, type Settings } from './config.ts';
import { collectWhenIdle } from './idle-collection.ts';
import { createLogger, type Logger } from './logger.ts';

const STOP_DEADLINE_MS = 20_000;

export interface Running {
  /** Stops everything that was started, in order. Called once. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** Maximum duration of `stop`; the process then ends anyway. Default: 20 s. */
  readonly stopDeadlineMs?: number | (() => number);
}

/** Runs a process to its end. SIGTERM and SIGINT stop the process; with `ORCH_SUPERVISED`, so does the end of standard
 *  input. An unhandled error is logged and ends the process with code 1.
 *  @param name the service's name in logs
 *  @param start sets everything up; `signal` aborts if the process must stop in the meantime */
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

/** Ignores errors here. They are reported with the errors of the settings that the process itself reads. */
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

/** Configuration errors are printed for people; all other errors go to the log. */
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
    // The supervisor holds the other end of this pipe. The pipe closes even if the supervisor is killed.
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
