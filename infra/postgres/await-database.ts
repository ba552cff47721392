/** Waits until a database accepts connections. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Connection } from './connection.ts';

const firstPauseMs = 250;
const maxPauseMs = 5_000;

export interface AwaitOptions {
  /** Stops waiting when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each failed attempt. `tried` is the URL without the password, such as
   *  `postgres://user@host:5432/name`. */
  readonly onAway: (tried: string, error: Error) => void;
  /** Whether an error is temporary. Other errors are thrown. */
  readonly passes: (error: unknown) => boolean;
}

/** Resolves when the database accepts connections.
 *  @throws permanent errors, such as a wrong password, and the signal's abort reason */
export async function awaitDatabase(url: string, options: AwaitOptions): Promise<void> {
  const { signal, onAway, passes } = options;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    signal?.throwIfAborted();
    try {
      return await withConnection(url, async (client) => void (await client.query('SELECT')));
    } catch (error) {
      if (!passes(error) || !(error instanceof Error)) throw error;
      onAway(withoutPassword(url), error);
    }
    await pause(pauseMs, undefined, { signal });
  }
}

/** Opens a connection for `use`, and closes it afterwards. */
export async function withConnection<Result>(
  url: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client: pg.Client = new Connection({ connectionString: url });
  // The failed statement reports the error. An unhandled error event would crash the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns the URL without its password. If the host is a folder, the folder contains the Unix socket. */
export function withoutPassword(url: string): string {
  const { user = '', host, port, database = '' } = new pg.Client({ connectionString: url });
  return `postgres://${user}@${host}:${port}/${database}`;
}
