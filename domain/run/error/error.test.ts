import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundedError, maxFrames, maxMessageBytes, type Frame, type RaisedError } from './error.ts';

function frame(line: number): Frame {
  return { file: 'main.py', line, function: 'work', code: 'work()', own: true };
}

function error(change: Partial<RaisedError> = {}): RaisedError {
  return { type: 'ValueError', message: 'wrong', frames: [frame(1)], causes: [], ...change };
}

describe('an error that is recorded', () => {
  test('is unchanged within the limits', () => {
    const small = error({ causes: [error()] });
    expect(boundedError(small)).toEqual(small);
  });

  test('keeps the first and the last frames of a long list', () => {
    const frames = Array.from({ length: 1000 }, (_, index) => frame(index + 1));
    const lines = boundedError(error({ frames })).frames.map(({ line }) => line);
    expect(lines).toHaveLength(maxFrames);
    expect([lines[0], lines[24], lines[25], lines[49]]).toEqual([1, 25, 976, 1000]);
  });

  test('keeps three levels of causes', () => {
    let deep = error();
    for (let level = 0; level < 10; level += 1) deep = error({ causes: [deep] });
    const kept = boundedError(deep);
    expect(kept.causes[0]?.causes[0]?.causes[0]).toEqual(error());
  });

  test('has a message of limited size that is well-formed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (some) => {
        const message = some.repeat(5000);
        const kept = boundedError(error({ message })).message;
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxMessageBytes);
        expect(kept.isWellFormed()).toBe(true);
        expect(message.startsWith(kept)).toBe(true);
      }),
    );
  });
});
