import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  boundedError,
  headlineOf,
  maxFrames,
  maxMessageBytes,
  platformError,
  truncationMark,
  type Frame,
  type RaisedError,
  type RelatedException,
} from './error.ts';

function frame(line: number): Frame {
  return { file: 'main.py', line, function: 'work', code: 'work()', own: true };
}

function error(change: Partial<RaisedError> = {}): RaisedError {
  return { type: 'ValueError', message: 'wrong', frames: [frame(1)], causes: [], ...change };
}

function cause(type: string): RelatedException {
  return { type, message: 'before', frames: [frame(2)], relation: 'cause' };
}

describe('a recorded error', () => {
  test('is unchanged if it is within the limits', () => {
    const small = error({ causes: [cause('OSError')] });
    expect(boundedError(small)).toEqual(small);
  });

  test('keeps the first and last frames of a long traceback', () => {
    const frames = Array.from({ length: 1000 }, (_, index) => frame(index + 1));
    const lines = boundedError(error({ frames })).frames.map(({ line }) => line);
    expect(lines).toHaveLength(maxFrames);
    expect([lines[0], lines[24], lines[25], lines[49]]).toEqual([1, 25, 976, 1000]);
  });

  test('keeps the root cause and the causes nearest to the error', () => {
    const causes = Array.from({ length: 50 }, (_, index) => cause(`E${index}`));
    const kept = boundedError(error({ causes })).causes.map(({ type }) => type);
    const nearest = causes.slice(0, 9).map(({ type }) => type);
    expect(kept).toEqual([...nearest, 'E49']);
    expect(kept).toHaveLength(10);
  });

  test('keeps the exception group of the last member, and counts the omitted exceptions', () => {
    const member = (type: string, depth: number): RelatedException => ({
      ...cause(type),
      relation: 'member',
      depth,
    });
    const flat = Array.from({ length: 30 }, (_, index) => member(`E${index}`, 1));
    const causes = [...flat, member('ExceptionGroup', 1), member('OSError', 2)];
    const bounded = boundedError(error({ causes }));
    expect(bounded.causes.map(({ type, depth, omitted }) => [type, depth, omitted])).toEqual([
      ...flat.slice(0, 8).map(({ type }) => [type, 1, undefined]),
      ['ExceptionGroup', 1, 22],
      ['OSError', 2, undefined],
    ]);
  });

  test('keeps both ends of a long chain, and also counts exceptions that were omitted earlier', () => {
    const chain = Array.from({ length: 60 }, (_, index) => ({
      ...cause(`E${index}`),
      depth: index + 1,
      ...(index === 20 ? { omitted: 3 } : {}),
    }));
    const bounded = boundedError(error({ causes: chain }));
    expect(bounded.causes.map(({ depth }) => depth)).toEqual([1, 2, 3, 4, 5, 6, 57, 58, 59, 60]);
    expect(bounded.causes.map(({ omitted = 0 }) => omitted)).toEqual([
      0, 0, 0, 0, 0, 0, 53, 0, 0, 0,
    ]);
  });

  test('has a message that is well-formed and limited in size', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (some) => {
        const message = some.repeat(5000);
        const kept = boundedError(error({ message })).message;
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxMessageBytes);
        expect(kept.isWellFormed()).toBe(true);
        expect(kept).not.toContain('\0');
        if (kept === message) return;
        expect(kept.endsWith(truncationMark)).toBe(Buffer.byteLength(message) > maxMessageBytes);
        const start = kept.slice(0, -truncationMark.length);
        expect(message.replaceAll('\0', '\uFFFD').startsWith(start)).toBe(true);
      }),
    );
  });
});

describe('the headline of a run error', () => {
  const headline = (type: string, message: string) => headlineOf({ type, message, source: 'log' });

  test('contains the type and the first line of the message', () => {
    expect(headline('ValueError', 'no such row\nhere')).toBe('ValueError: no such row');
    expect(headline('KeyboardInterrupt', '')).toBe('KeyboardInterrupt');
    expect(headline('E', 'x'.repeat(5000))).toHaveLength(300);
  });

  test('contains the reason for a platform failure in one line', () => {
    const failed = platformError(
      'environment_error',
      'No solution found:\n  × absent was not found',
    );
    expect(headlineOf(failed)).toBe('No solution found: × absent was not found');
  });

  test('is absent for a platform failure without a known reason', () => {
    expect(headlineOf(platformError('timeout'))).toBeUndefined();
    const ended = platformError('exit_code', 'The script exited with exit code 3.');
    expect(headlineOf(ended)).toBeUndefined();
  });
});
