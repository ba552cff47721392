import { describe, expect, test } from 'vitest';
import { TargetRefused, Targets } from './targets.ts';

const refused = [
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  'fe80::1',
  'fd00:ec2::254',
  'ff02::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
];

describe('without permitted networks,', () => {
  const targets = new Targets([]);

  test.each(refused)('the address %s is refused', async (address) => {
    await expect(targets.addressOf(address)).rejects.toThrow(TargetRefused);
  });

  test.each(['1.1.1.1', '93.184.215.14', '2606:4700::1111', '::ffff:1.1.1.1', '172.32.0.1'])(
    'the address %s is accepted',
    async (address) => {
      expect(await targets.addressOf(address)).toBe(address);
    },
  );

  test('only the public addresses of a name are used', async () => {
    const both = new Targets([], () => Promise.resolve(['10.0.0.1', '1.1.1.1']));
    expect(await both.addressOf('example.com')).toBe('1.1.1.1');
    const none = new Targets([], () => Promise.resolve(['10.0.0.1', '::1']));
    await expect(none.addressOf('example.com')).rejects.toThrow(
      'example.com does not resolve to a public',
    );
  });
});

test('only permitted networks are accepted in addition to public addresses', async () => {
  const targets = new Targets(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:127.0.0.1', 'fd00::1']) {
    expect(await targets.addressOf(address)).toBe(address);
  }
  for (const address of ['10.2.0.1', '127.0.0.2', '::1']) {
    await expect(targets.addressOf(address)).rejects.toThrow(TargetRefused);
  }
});
