import { expect, test } from 'vitest';
import { losePackets } from './packet-loss.ts';

test('packet loss cannot be simulated in a network that other programs use', () => {
  expect(() => losePackets('127.0.0.1', 0.2)).toThrow(
    'a network namespace that only this test uses',
  );
});
