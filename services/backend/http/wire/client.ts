/** Determines a client's address, scheme and origin. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Proxies with trusted `X-Forwarded-*` headers. */
export type TrustedProxies = BlockList;

/** @param networks addresses or CIDR ranges */
export function trustedProxies(networks: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return list;
}

/** The client's IP address: the nearest address that is not a trusted proxy. */
export function clientAddress(request: IncomingMessage, trusted: TrustedProxies): string {
  let address = plain(request.socket.remoteAddress ?? '');
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((one) => plain(one.trim()));
  while (isTrusted(address, trusted)) {
    const next = forwarded.pop();
    if (next === undefined || isIP(next) === 0) break;
    address = next;
  }
  return address;
}

/** Whether the client uses HTTPS, directly or at a trusted proxy. */
export function isSecure(request: IncomingMessage, trusted: TrustedProxies): boolean {
  if (request.socket instanceof TLSSocket) return true;
  return (
    isTrusted(plain(request.socket.remoteAddress ?? ''), trusted) &&
    request.headers['x-forwarded-proto'] === 'https'
  );
}

/** The origin that the client used. Without a valid `Host`, this is the address of the
 *  socket. */
export function originOf(request: IncomingMessage, trusted: TrustedProxies): string {
  const scheme = isSecure(request, trusted) ? 'https' : 'http';
  const { host = '' } = request.headers;
  if (/^[\w.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/i.test(host)) return `${scheme}://${host}`;
  const { localAddress = '127.0.0.1', localPort = 0 } = request.socket;
  const address = plain(localAddress);
  return `${scheme}://${isIP(address) === 6 ? `[${address}]` : address}:${localPort}`;
}

function isTrusted(address: string, trusted: TrustedProxies): boolean {
  const version = isIP(address);
  return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

// A dual-stack socket reports IPv4 as `::ffff:127.0.0.1`.
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** The ID of the client's trace (W3C Trace Context), or of a new trace. */
export function traceIdOf(request: IncomingMessage): string {
  return traceOf(request).traceId;
}

export interface RequestTrace {
  /** The trace ID, 32 hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span; absent if the trace starts here. */
  readonly parentSpanId?: string;
  /** Whether the caller samples the trace. */
  readonly isSampled: boolean;
}

/** The trace of a request (W3C Trace Context), or a new trace. */
export function traceOf({ headers }: IncomingMessage): RequestTrace {
  const [, traceId = '', parentSpanId = '', flags = ''] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(String(headers['traceparent'] ?? '')) ??
    [];
  if (/^0*$/.test(traceId)) return { traceId: randomUUID().replaceAll('-', ''), isSampled: true };
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, isSampled, ...(!/^0*$/.test(parentSpanId) && { parentSpanId }) };
}

/** Whether the request comes from a page of this origin, or from a program other than a browser. Another port counts
 *  as another origin, although browsers treat it as `same-site` and send it the same cookies. */
export function isOwnPage(headers: IncomingHttpHeaders): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
