/** The addresses that a service with the given `bind` listens on, `bind` first. Browsers may use either loopback
 *  address for `localhost`, so a port must not stay free for scripts on one of them.
 *  @returns a second address only if `bind` covers one loopback address and not the other */
export function listenAddresses(bind: string): readonly string[] {
  if (bind === '127.0.0.1' || bind === '0.0.0.0') return [bind, '::1'];
  return bind === '::1' ? [bind, '127.0.0.1'] : [bind];
}

/** The address at which this machine reaches a service that listens on `bind`. */
export function localAddress(
  bind: string,
  port: number,
  scheme: 'http' | 'redis' = 'http',
): string {
  if (bind === '0.0.0.0') return `${scheme}://127.0.0.1:${port}`;
  if (bind === '::') return `${scheme}://[::1]:${port}`;
  return bind.includes(':') ? `${scheme}://[${bind}]:${port}` : `${scheme}://${bind}:${port}`;
}
