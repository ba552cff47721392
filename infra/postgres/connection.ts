/** Connections to Postgres that tell no answer from a bad one. */
import pg from 'pg';

const connectMs = 5_000;

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

type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;

/** Fails with what the server answered, with
 *  `DatabaseUnavailable`, or with a mistake in the call. */
export class Connection extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({
      connectionTimeoutMillis: connectMs,
      ...config,
    });
  }

  /** Fails what is under way, and closes without a word to the server. */
  destroy(reason: Error): void {
    this.connection.stream.destroy(reason);
  }

  // The types of these have many forms: callers see those of `pg.Client`.
  override connect(...args: unknown[]): never {
    const finish = (error: Error | null | undefined): Error | null | undefined => {
      return error == null ? error : this.#judged(error);
    };
    return settledBy(super.connect, this, args, finish);
  }

  override query(...args: unknown[]): never {
    const finish = (error: Error | null | undefined): Error | null | undefined => {
      return error == null ? error : this.#judged(error);
    };
    return settledBy(super.query, this, args, finish);
  }

  override emit(event: string, ...args: unknown[]): boolean {
    const [error] = args;
    const isError = event === 'error' && error instanceof Error;
    const emit = super.emit as (event: string, ...all: unknown[]) => boolean;
    return emit.apply(this, [event, ...(isError ? [this.#judged(error)] : args)]);
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
    // A connection that breaks while it is lent fails the statement that runs or comes next. It says so
    // as an event too, and an error event that nobody hears ends the process.
    this.on('connect', (client) => client.on('error', () => undefined));
  }

  // Without a connection there is no mistake in a call.
  override connect(...args: unknown[]): never {
    return settledBy(super.connect, this, args, (error) =>
      error == null ? error : unavailable(error),
    );
  }
}

/** Calls a method that takes a callback as its last argument or answers by a promise.
 *  @param finish is told of the end, and says what the error is */
function settledBy(
  method: unknown,
  self: unknown,
  args: unknown[],
  finish: (error: Error | null | undefined) => Error | null | undefined,
): never {
  const call = method as (...all: unknown[]) => unknown;
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const told: Callback = (error, ...rest) => (callback as Callback)(finish(error), ...rest);
    return call.apply(self, [...args.slice(0, -1), told]) as never;
  }
  const settled = (call.apply(self, args) as Promise<unknown>).then(
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
