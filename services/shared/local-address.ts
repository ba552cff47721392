/** Where a service listens that is told `bind`, that first. Browsers may take either loopback address for
 *  `localhost`: a port that is free on one of them would be free for scripts.
 *  @returns the second only where `bind` takes in one loopback address and not the other */
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
