import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  authenticatedLimits,
  ProtocolError,
  RequestReader,
  unauthenticatedLimits,
  type RequestLimits,
} from './requests.ts';

/** Parses the pieces. @returns the commands as text, followed by the error if parsing failed */
function read(pieces: readonly Buffer[], limits: RequestLimits = authenticatedLimits): string[][] {
  const reader = new RequestReader();
  const found: string[][] = [];
  try {
    for (const piece of pieces) {
      reader.push(piece);
      for (let one = reader.next(limits); one !== undefined; one = reader.next(limits)) {
        found.push(one.map((word) => word.toString('latin1')));
      }
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    found.push([error.message]);
  }
  return found;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const only = (text: string, limits?: RequestLimits) => read([bytes(text)], limits);

function array(words: readonly Buffer[]): Buffer {
  const parts = words.map((one) =>
    Buffer.concat([bytes(`$${one.length}\r\n`), one, bytes('\r\n')]),
  );
  return Buffer.concat([bytes(`*${words.length}\r\n`), ...parts]);
}

const word = fc.uint8Array({ maxLength: 40 }).map((one) => Buffer.from(one));
const noise = fc
  .string({ unit: fc.constantFrom('*', '$', '-', '1', '2', '\r', '\n', '"', "'", '\\', 'x', ' ') })
  .map(bytes);
const command = fc.oneof(
  { weight: 4, arbitrary: fc.array(word, { minLength: 1, maxLength: 5 }).map(array) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('PING\r\n', '\r\n', 'SET "a b" \'c\'\n', '*0\r\n').map(bytes),
  },
  { weight: 1, arbitrary: noise },
);

describe('any stream of commands', () => {
  test('is parsed identically, regardless of how it is split into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 6 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        fc.constantFrom(authenticatedLimits, unauthenticatedLimits),
        (commands, cuts, limits) => {
          const whole = Buffer.concat(commands);
          const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length];
          const ordered = places.toSorted((one, other) => one - other);
          const pieces = ordered.slice(1).map((end, index) => whole.subarray(ordered[index], end));
          const expected = read([whole], limits);
          expect(read(pieces, limits)).toEqual(expected);
          expect(
            read(
              Array.from(whole, (one) => Buffer.of(one)),
              limits,
            ),
          ).toEqual(expected);
        },
      ),
    );
  });

  test('is parsed without loss when each command is sent as an array', () => {
    fc.assert(
      fc.property(fc.array(fc.array(word, { minLength: 1, maxLength: 5 })), (commands) => {
        const expected = commands.map((words) => words.map((one) => one.toString('latin1')));
        expect(read([Buffer.concat(commands.map(array))])).toEqual(expected);
      }),
    );
  });
});

describe('an inline command', () => {
  test.each([
    ['PING\r\n', ['PING']],
    ['  SET   a  b \n', ['SET', 'a', 'b']],
    ['SET "a b" \'c d\'\r\n', ['SET', 'a b', 'c d']],
    ['SET "\\x41\\n\\"" \'it\\\'s\'\r\n', ['SET', 'A\n"', "it's"]],
    ['a"b c"\r\n', ['ab c']],
    ['x ""\r\n', ['x', '']],
    ['x\u00a0y\r\n', ['x\u00a0y']],
  ])('with the text %j is split as in Redis', (line, words) => {
    expect(only(line)).toEqual([words]);
  });

  test('is ignored if the line is empty', () => {
    expect(only('\r\n\r\nPING\r\n')).toEqual([['PING']]);
  });

  test.each(['SET "a\r\n', "SET 'a\r\n", 'SET "a"b\r\n'])(
    'with unbalanced quotes is refused: %j',
    (line) => {
      expect(only(line)).toEqual([['Protocol error: unbalanced quotes in request']]);
    },
  );
});

describe('invalid input', () => {
  test.each([
    ['*1000000\r\n', 'invalid multibulk length'],
    ['*x\r\n', 'invalid multibulk length'],
    ['*99999999999999999999\r\n', 'invalid multibulk length'],
    ['*1\r\n$536870912\r\n', 'invalid bulk length'],
    ['*1\r\n$-1\r\n', 'invalid bulk length'],
    ['*1\r\n:1\r\n', "expected '$', got ':'"],
    ['*1\r\n$1\r\nab\r\n', 'expected the end of the argument'],
    [`*${'1'.repeat(100)}`, 'too big mbulk count string'],
    [`*1\r\n$${'1'.repeat(100)}`, 'too big bulk count string'],
    ['x'.repeat(70_000), 'too big inline request'],
  ])('such as %j is refused with the reason', (text, complaint) => {
    expect(only(text)).toEqual([[`Protocol error: ${complaint}`]]);
  });

  test('has lower limits before authentication', () => {
    expect(only('*11\r\n', unauthenticatedLimits)).toEqual([
      ['Protocol error: unauthenticated multibulk length'],
    ]);
    expect(only('*1\r\n$16385\r\n', unauthenticatedLimits)).toEqual([
      ['Protocol error: unauthenticated bulk length'],
    ]);
  });

  test('is detected if all arguments together exceed the limit', () => {
    const part = `$1048576\r\n${'x'.repeat(1_048_576)}\r\n`;
    expect(only(`*5\r\n${part.repeat(5)}`)).toEqual([['Protocol error: invalid bulk length']]);
  });

  test('does not include an empty array, which is ignored', () => {
    expect(only('*0\r\n*-1\r\nPING\r\n')).toEqual([['PING']]);
  });
});

test('for an incomplete command, only the received bytes are buffered', () => {
  const reader = new RequestReader();
  reader.push(bytes('*2\r\n$4\r\nPING\r\n$10'));
  expect(reader.next(authenticatedLimits)).toBeUndefined();
  expect(reader.waitingBytes).toBe(3);
});
