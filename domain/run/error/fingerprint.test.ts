import { describe, expect, test } from 'vitest';
import type { Frame, RaisedError } from './error.ts';
import { fingerprintOf } from './fingerprint.ts';

const own: Frame = { file: 'main.py', line: 7, function: 'load', code: 'float(row[1])', own: true };
const other: Frame = { ...own, file: 'csv.py', function: 'read', code: 'next(rows)', own: false };

function error(change: Partial<RaisedError> = {}): RaisedError {
  return { type: 'ValueError', message: "bad: 'x1'", frames: [other, own], causes: [], ...change };
}

describe('two errors are the same', () => {
  test.each([
    ['moved lines', { frames: [other, { ...own, line: 90 }] }],
    ['another value in the message', { message: "bad: 'y2'" }],
    ['a changed package', { frames: [{ ...other, line: 1, code: 'rows()' }, own] }],
    ['a deeper recursion', { frames: [other, own, own, own] }],
    ['different indentation', { frames: [{ ...own, code: 'float(row[1])  ' }] }],
  ])('with %s', (_situation, change) => {
    expect(fingerprintOf(error(change))).toBe(fingerprintOf(error()));
  });

  test.each([
    ['port 8080 is taken', 'port 9 is taken'],
    ["no file '/a/b'", "no file '/c'"],
    ['run 1f2e3d4c5b6a lost', 'run 99aa88bb77cc lost'],
  ])('without frames if only values differ: %s', (one, another) => {
    const frames: Frame[] = [];
    const [first, second] = [one, another].map((message) => error({ frames, message }));
    expect(fingerprintOf(first ?? error())).toBe(fingerprintOf(second ?? error()));
  });
});

describe('two errors differ', () => {
  test.each<[string, Partial<RaisedError>]>([
    ['another type', { type: 'KeyError' }],
    ['another function that raises the error', { frames: [other, { ...own, function: 'save' }] }],
    ['other code that raises the error', { frames: [other, { ...own, code: 'int(row[1])' }] }],
    [
      'another cause',
      { causes: [{ type: 'OSError', message: '', frames: [], relation: 'cause' }] },
    ],
  ])('with %s', (_situation, change) => {
    expect(fingerprintOf(error(change))).not.toBe(fingerprintOf(error()));
  });

  test.each([
    ['the message text', 'the port is taken', 'the disk is full'],
    ['the exit code', 'The script exited with exit code 3.', 'The script exited with exit code 4.'],
    ['the last digit of the exit code', 'exit code 103', 'exit code 104'],
  ])('without frames if %s differs', (_difference, one, another) => {
    const frames: Frame[] = [];
    expect(fingerprintOf(error({ frames, message: one }))).not.toBe(
      fingerprintOf(error({ frames, message: another })),
    );
  });
});
