import { describe, expect, test } from 'vitest';
import { encode, failure, map, noArray, ok, push, type Reply } from './replies.ts';

const cases: readonly (readonly [string, Reply, string, string])[] = [
  ['a status', ok, '+OK\r\n', '+OK\r\n'],
  ['an error of two lines', failure('ERR a\r\nb'), '-ERR a b\r\n', '-ERR a b\r\n'],
  ['an integer', -3, ':-3\r\n', ':-3\r\n'],
  ['text', 'é', '$2\r\né\r\n', '$2\r\né\r\n'],
  ['nothing', null, '$-1\r\n', '_\r\n'],
  ['no array', noArray, '*-1\r\n', '_\r\n'],
  [
    'an array',
    [1, ['a', null]],
    '*2\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n',
    '*2\r\n:1\r\n*2\r\n$1\r\na\r\n_\r\n',
  ],
  ['a map', map([['a', 1]]), '*2\r\n$1\r\na\r\n:1\r\n', '%1\r\n$1\r\na\r\n:1\r\n'],
  ['a set', { kind: 'set', items: [1] }, '*1\r\n:1\r\n', '~1\r\n:1\r\n'],
  ['a push', push('a', 1), '*2\r\n$1\r\na\r\n:1\r\n', '>2\r\n$1\r\na\r\n:1\r\n'],
  ['text for a person', { kind: 'text', text: 'é' }, '$2\r\né\r\n', '=6\r\ntxt:é\r\n'],
  ['several', { kind: 'several', replies: [1, 2] }, ':1\r\n:2\r\n', ':1\r\n:2\r\n'],
];

describe('both versions of the protocol', () => {
  test.each(cases)('encode %s as Redis does', (_, reply, old, present) => {
    expect(encode(reply, 2).toString()).toBe(old);
    expect(encode(reply, 3).toString()).toBe(present);
  });

  test('keep bytes unchanged', () => {
    const bytes = Buffer.from([0, 255, 13, 10]);
    expect(encode(bytes, 2)).toEqual(
      Buffer.concat([Buffer.from('$4\r\n'), bytes, Buffer.from('\r\n')]),
    );
  });
});
