/** A database behind a network that fails on demand. */
import pg from 'pg';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';

/** Starts a proxy for a database server, which may listen on a Unix socket.
 *  @returns the proxy, and the URL that connects through the proxy */
export async function proxied(url: string): Promise<{ proxy: FaultProxy; url: string }> {
  const { user = '', password, host, port, database } = new pg.Client({ connectionString: url });
  const isSocket = host.startsWith('/');
  const proxy = await startFaultProxy(
    isSocket ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  );
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}`;
  return { proxy, url: `postgres://${login}@${proxy.host}:${proxy.port}/${database}` };
}
