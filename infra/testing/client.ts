/** Helpers for the test server and the test databases. */
import pg from 'pg';

/** Runs a function with a new connection, and closes the connection afterwards. */
export async function withClient<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Returns the URL of another database on the same server, for the same user or for `login`. */
export function databaseUrl(
  url: string,
  database: string,
  login?: { readonly user: string; readonly password: string },
): string {
  // The URL class refuses a URL with an empty host, such as the URL of a Unix socket.
  const parts = /^(postgres(?:ql)?:\/\/)(?:([^@/]*)@)?([^/?]*)(?:\/[^?]*)?(\?.*)?$/.exec(url);
  if (parts === null) throw new Error('a database address starts with postgres://');
  const [, scheme, own = '', host, query = ''] = parts;
  const user = login === undefined ? own : `${login.user}:${login.password}`;
  return `${scheme}${user}@${host}/${database}${query}`;
}
