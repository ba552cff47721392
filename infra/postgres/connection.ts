/** Postgres connections with a bounded wait for every call. */
import type { Socket } from 'node:net';
import pg from 'pg';
import { watch } from './connection-watch.ts';

const connectMs = 5_000;
const keepAliveAfterMs = 10_000;
/** How long to wait for the server's reply when a session ends. */
const endMs = 3_000;

/** The server did not respond: it is unreachable, closed the connection, or sends nothing. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** The operating system's error code, such as `ECONNREFUSED`, if there is one. */
  readonly code: string | undefined;

  constructor(cause: Error) {
    super(messageOf(cause), { cause });
    this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  }
}

// Returns the message of an error. If a host has several addresses, the message contains the reason for each attempt.
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors
    .map((each) => (each instanceof Error ? each.message : String(each)))
    .join(', ');
}

/** Converts an error that is not a response from the server to `DatabaseUnavailable`. */
export function unavailable(error: Error): Error {
  const isAnswer = error instanceof pg.DatabaseError || error instanceof DatabaseUnavailable;
  return isAnswer ? error : new DatabaseUnavailable(error);
}

type Method = (...all: unknown[]) => unknown;
type Finish = (error: Error | null | undefined) => Error | null | undefined;
type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;

/** A connection that is destroyed when the server stops responding (`connection-watch.ts`). Calls fail with the
 *  server's error, with `DatabaseUnavailable`, or with the error for an invalid call. */
export class Connection extends pg.Client {
  readonly #url: string | undefined;
  #unanswered = 0;
  #connectedMs: number | undefined;

  constructor(config: pg.ClientConfig = {}) {
    super({
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveAfterMs,
      ...config,
    });
    this.#url = config.connectionString;
  }

  /** Whether the connection is waiting for a response from the server. */
  get isWaiting(): boolean {
    return this.#unanswered > 0;
  }

  /** When the connection was established, on the monotonic clock. */
  get connectedMs(): number {
    return this.#connectedMs ?? performance.now();
  }

  /** The process ID of the session's server process. */
  get backendPid(): number | null {
    return (this as unknown as { processID: number | null }).processID;
  }

  get bytesRead(): number {
    return (this.connection.stream as Socket).bytesRead;
  }

  /** Fails pending calls and closes the connection without notifying the server. */
  destroy(reason: Error): void {
    this.connection.stream.destroy(reason);
  }

  // These methods have many overloads. Callers see those of `pg.Client`.
  override connect(...args: unknown[]): never {
    const finish: Finish = (error) => {
      if (error != null) return this.#judged(error);
      this.#connectedMs = performance.now();
      if (this.#url !== undefined) watch(this.#url, this);
      return error;
    };
    return settledBy((...all) => (super.connect as Method).apply(this, all), args, finish);
  }

  override query(...args: unknown[]): never {
    this.#unanswered += 1;
    const finish: Finish = (error) => {
      this.#unanswered -= 1;
      return error == null ? error : this.#judged(error);
    };
    return settledBy((...all) => (super.query as Method).apply(this, all), args, finish);
  }

  override end(...args: unknown[]): never {
    const timer = setTimeout(() => this.connection.stream.destroy(), endMs).unref();
    this.once('end', () => clearTimeout(timer));
    return (super.end as (...all: unknown[]) => never).apply(this, args);
  }

  override emit(event: string, ...args: unknown[]): boolean {
    const [error] = args;
    const isError = event === 'error' && error instanceof Error;
    const told = isError ? [this.#judged(error)] : args;
    return (super.emit as Method).apply(this, [event, ...told]) as boolean;
  }

  // While the connection is intact, an error that is not a server response was caused by an invalid call.
  #judged(error: Error): Error {
    return this.connection.stream.destroyed ? unavailable(error) : error;
  }
}

/** A connection pool whose calls fail with `DatabaseUnavailable` if the server does not respond. */
export class ConnectionPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ connectionTimeoutMillis: connectMs, Client: Connection, ...config });
    // A connection that breaks while in use fails the current or next statement. It also emits an error event, which
    // would crash the process if it were not handled.
    this.on('connect', (client) => client.on('error', () => undefined));
  }

  // Connecting cannot be an invalid call, so every error that is not a server response is an outage.
  override connect(...args: unknown[]): never {
    const finish: Finish = (error) => (error == null ? error : unavailable(error));
    return settledBy((...all) => (super.connect as Method).apply(this, all), args, finish);
  }
}

/** Calls a method that either takes a callback as its last argument or returns a promise.
 *  @param finish called when the method settles; returns the error to report */
function settledBy(method: Method, args: unknown[], finish: Finish): never {
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const told: Callback = (error, ...rest) => (callback as Callback)(finish(error), ...rest);
    try {
      return method(...args.slice(0, -1), told) as never;
    } catch (error) {
      // If the callback ran synchronously, the pool would leave its listener on the connection. It would then release
      // the connection again when the connection breaks.
      process.nextTick(told, error);
      return undefined as never;
    }
  }
  const settled = (method(...args) as Promise<unknown>).then(
    (result) => {
      finish(null);
      return result;
    },
    (error: Error) => {
      throw finish(error) ?? error;
    },
  );
  return settled as never;
}

/** Returns the SQLSTATE of a Postgres error, or `undefined` for other errors, such as a broken connection. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
