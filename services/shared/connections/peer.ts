/** Identifies the remote side of a connection, to which limits apply. */
import { isIP, isIPv6, type BlockList } from 'node:net';

/** Returns the peer of a connection: `local` for this machine, the address for IPv4, and the /64 network for IPv6. With
 *  IPv6, each customer has at least a /64 network.
 *  @param address the remote address of a socket */
export function peerOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (plain.startsWith('127.') || plain === '::1') return 'local';
  return isIPv6(plain) ? `${networkOf(plain)}::/64` : plain;
}

/** Returns the network of an IPv6 address, which is the first four of its eight groups. */
function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
    .slice(0, 4)
    .join(':');
}

/** Whether a list contains an address or a peer from `peerOf`. */
export function isIn(peer: string, list: BlockList): boolean {
  const address = peer.replace(/\/64$/, '');
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
