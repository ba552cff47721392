import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { maxConnections, defaultMaxConnections } from './descriptors.ts';
import { isIn, peerOf } from './peer.ts';

describe('the peer of a connection', () => {
  test.each([
    ['127.0.0.1', 'local'],
    ['127.8.8.8', 'local'],
    ['::ffff:127.0.0.1', 'local'],
    ['::1', 'local'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('from the address %s is %s', (address, peer) => {
    expect(peerOf(address)).toBe(peer);
  });

  test('is found in a list of networks', () => {
    const proxies = new BlockList();
    proxies.addSubnet('10.0.0.0', 8, 'ipv4');
    proxies.addSubnet('2001:db8:1::', 48, 'ipv6');
    expect(
      ['10.1.2.3', '2001:db8:1:2::/64', '192.0.2.7', 'local'].map((one) => isIn(one, proxies)),
    ).toEqual([true, true, false, false]);
  });
});

describe('the default connection limit', () => {
  test.each([
    [1024, 384],
    [20_000, 9872],
    [1_000_000, 10_000],
    [100, 1],
  ])(
    'for %i file descriptors is %i, with a reserve for the process',
    (descriptors, connections) => {
      expect(defaultMaxConnections(descriptors)).toBe(connections);
      expect(defaultMaxConnections(descriptors)).toBeLessThanOrEqual(maxConnections(descriptors));
    },
  );
});
