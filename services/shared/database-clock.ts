/** All processes use the database's clock. Between readings, each process extrapolates with its monotonic clock. Due
 *  times therefore do not depend on the machine's clock, even if that clock is wrong or jumps. */
import { hostname } from 'node:os';
import type { Clock } from '#domain/ports/clock.ts';
import { Connection } from '#infra/postgres/connection.ts';
import { clockSession } from '#infra/postgres/operations/clock-sessions.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type pg from 'pg';
import { startLoop, type LoopOptions } from './loop.ts';
import type { Logger } from './logger.ts';

const readEveryMs = 2_000;
/** The maximum duration of a clock reading. Slower readings are too inaccurate. */
const slowestMs = 1_000;

export interface DatabaseClockOptions {
  readonly database: Queryable;
  /** The database URL for an additional connection. The connection's application name informs other processes that this
   *  machine's clock is wrong. */
  readonly url: string;
  /** The machine's own clock. */
  readonly own: Clock;
  /** The name of the process, used in messages to the operator. */
  readonly name: string;
  /** The maximum difference between the two clocks. Above this difference, the process pauses time-dependent work. */
  readonly maxDifferenceSeconds: number;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
}

export class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  /** The database's time at the zero point of the monotonic clock, in milliseconds since the epoch. */
  #originMs: number;
  #differenceMs = 0;
  #session: pg.Client | undefined;

  constructor(options: DatabaseClockOptions) {
    this.#options = options;
    this.#originMs = options.own.now().getTime() - performance.now();
  }

  now(): Date {
    return new Date(this.#originMs + performance.now());
  }

  /** How far the machine's clock is ahead of the database's clock; negative if it is behind. */
  get differenceSeconds(): number {
    return this.#differenceMs / 1000;
  }

  /** Describes a clock problem to the operator, or undefined if the clock is correct. Time-dependent work pauses while
   *  there is a problem. */
  get problem(): string | undefined {
    if (Math.abs(this.differenceSeconds) <= this.#options.maxDifferenceSeconds) return undefined;
    return (
      `the clock of this machine is ${formatOffset(this.differenceSeconds)} the database's, so this process ` +
      'does not start or end runs; correct the clock'
    );
  }

  /** Reads the database's clock once. */
  async read(): Promise<void> {
    const { database, own, logger } = this.#options;
    const askedMs = performance.now();
    const { rows } = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now', []);
    const tookMs = performance.now() - askedMs;
    const now = rows[0]?.now;
    if (now === undefined || tookMs > slowestMs) return;
    const wasWrong = this.problem !== undefined;
    this.#originMs = now.getTime() - askedMs - tookMs / 2;
    this.#differenceMs = own.now().getTime() - this.now().getTime();
    const { problem } = this;
    if (problem !== undefined && !wasWrong)
      logger.warn({ problem }, 'clock differs from the database');
    if (problem === undefined && wasWrong) logger.info('clock matches the database again');
    await this.#tell();
  }

  /** Reads the database's clock periodically. @returns a function that stops the readings */
  follow(): () => Promise<void> {
    const { logger } = this.#options;
    const runOnce = () => this.read();
    const loop = startLoop({ name: 'clock', everyMs: readEveryMs, logger, runOnce });
    return async () => {
      await loop.stop();
      await this.#session?.end();
    };
  }

  /**
   * Publishes the clock problem as the application name of a database session, which all schedulers can read. The
   * session ends when this process exits.
   */
  async #tell(): Promise<void> {
    const { url, name } = this.#options;
    if (this.problem === undefined) {
      const session = this.#session;
      this.#session = undefined;
      await session?.end();
      return;
    }
    if (this.#session === undefined) {
      const session: pg.Client = new Connection({ connectionString: url });
      session.on('error', () => undefined);
      session.once('end', () => {
        if (this.#session === session) this.#session = undefined;
      });
      await session.connect();
      this.#session = session;
    }
    const told = clockSession(name, hostname(), formatOffset(this.differenceSeconds));
    await this.#session.query(`SELECT set_config('application_name', $1, false)`, [told]);
  }
}

function formatOffset(seconds: number): string {
  return `${Math.abs(seconds).toFixed(0)} s ${seconds > 0 ? 'ahead of' : 'behind'}`;
}

/** Wraps time-dependent work so that each round is skipped while the clock is wrong. */
export function whileClockIsRight(
  clock: Pick<DatabaseClock, 'problem'>,
  runOnce: LoopOptions['runOnce'],
): LoopOptions['runOnce'] {
  return async (signal) => (clock.problem === undefined ? await runOnce(signal) : undefined);
}
