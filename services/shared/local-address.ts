/** Returns the addresses on which a service with the given `bind` address listens. Browsers may use either loopback
 *  address for `localhost`. A script must therefore not be able to listen on the same port of the other loopback
 *  address.
 *  @returns `bind`, and the other loopback address if `bind` includes only one */
export function listenAddresses(bind: string): readonly string[] {
  if (bind === '127.0.0.1' || bind === '0.0.0.0') return [bind, '::1'];
  return bind === '::1' ? [bind, '127.0.0.1'] : [bind];
}

/** Returns the address through which this machine reaches a service that listens on `bind`. */
export function localAddress(
  bind: string,
  port: number,
  scheme: 'http' | 'redis' = 'http',
): string {
  if (bind === '0.0.0.0') return `${scheme}://127.0.0.1:${port}`;
  if (bind === '::') return `${scheme}://[::1]:${port}`;
  return bind.includes(':') ? `${scheme}://[${bind}]:${port}` : `${scheme}://${bind}:${port}`;
}
