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
