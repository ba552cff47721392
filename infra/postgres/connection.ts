/** Connections to Postgres of which none waits forever. */
import type { Socket } from 'node:net';
import pg from 'pg';
import { watch } from './connection-watch.ts';

const connectMs = 5_000;
const keepAliveAfterMs = 10_000;
/** For the server's reply to the end of a session. */
const endMs = 3_000;

/** There was no answer from the server: it cannot be reached, has closed the connection or is silent. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** Of the system, such as `ECONNREFUSED`, where there is one. */
  readonly code: string | undefined;

  constructor(cause: Error) {
    super(messageOf(cause), { cause });
    this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  }
}

// Where a name has several addresses, the reasons are those of the attempts.
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors
    .map((each) => (each instanceof Error ? each.message : String(each)))
    .join(', ');
}

/** What failed without an answer of the server, as `DatabaseUnavailable`. */
export function unavailable(error: Error): Error {
  const isAnswer = error instanceof pg.DatabaseError || error instanceof DatabaseUnavailable;
  return isAnswer ? error : new DatabaseUnavailable(error);
}

type Method = (...all: unknown[]) => unknown;
type Finish = (error: Error | null | undefined) => Error | null | undefined;
type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;

/** Destroyed when the server is silent (`connection-watch.ts`). Fails with what the server answered, with
 *  `DatabaseUnavailable`, or with a mistake in the call. */
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

  /** Whether the server owes an answer. */
  get isWaiting(): boolean {
    return this.#unanswered > 0;
  }

  /** When it was made, on the monotonic clock. */
  get connectedMs(): number {
    return this.#connectedMs ?? performance.now();
  }

  /** Of the session, at the server. */
  get backendPid(): number | null {
    return (this as unknown as { processID: number | null }).processID;
  }

  get bytesRead(): number {
    return (this.connection.stream as Socket).bytesRead;
  }

  /** Fails what is under way, and closes without a word to the server. */
  destroy(reason: Error): void {
    this.connection.stream.destroy(reason);
  }

  // The types of these have many forms: callers see those of `pg.Client`.
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

  // While there is a connection, what fails without an answer is a mistake in the call.
  #judged(error: Error): Error {
    return this.connection.stream.destroyed ? unavailable(error) : error;
  }
}

/** Connections that are shared. What fails without an answer of the server is `DatabaseUnavailable`. */
export class ConnectionPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ connectionTimeoutMillis: connectMs, Client: Connection, ...config });
    // A connection that breaks while it is in use fails the current or the next statement. It also emits an error
    // event, and an unhandled error event ends the process.
    this.on('connect', (client) => client.on('error', () => undefined));
  }

  // Without a connection there is no mistake in a call.
  override connect(...args: unknown[]): never {
    const finish: Finish = (error) => (error == null ? error : unavailable(error));
    return settledBy((...all) => (super.connect as Method).apply(this, all), args, finish);
  }
}

/** Calls a method that takes a callback as its last argument or answers by a promise.
 *  @param finish is called at the end, and returns the error */
function settledBy(method: Method, args: unknown[], finish: Finish): never {
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const told: Callback = (error, ...rest) => (callback as Callback)(finish(error), ...rest);
    try {
      return method(...args.slice(0, -1), told) as never;
    } catch (error) {
      // The pool would leave its listener on the connection, and give the connection back a second time when it breaks.
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
