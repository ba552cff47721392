/** Tracebacks of real interpreters are in services/runtime/tracebacks.test.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTraceback } from './traceback.ts';

const places = { root: '/workspaces/s1' };
const plain = `Traceback (most recent call last):
  File "/workspaces/s1/lib/load.py", line 12, in load
    return float(value)
           ^^^^^^^^^^^^
ValueError: could not convert string to float: 'n/a'`;

describe('a traceback', () => {
  test('is parsed into type, message and frames', () => {
    expect(parseTraceback(plain, places)).toEqual({
      type: 'ValueError',
      message: "could not convert string to float: 'n/a'",
      frames: [
        { file: 'lib/load.py', line: 12, function: 'load', code: 'return float(value)', own: true },
      ],
      causes: [],
    });
  });

  test.each([
    ['/workspaces/s1/main.py', 'main.py', true],
    ['/workspaces/s10/main.py', '/workspaces/s10/main.py', false],
    ['/envs/a/lib/python3.12/site-packages/requests/api.py', 'requests/api.py', false],
    ['/workspaces/s1/.venv/lib/python3.12/site-packages/rich/a.py', 'rich/a.py', false],
    ['/usr/lib/python3.12/json/decoder.py', '/usr/lib/python3.12/json/decoder.py', false],
    ['<frozen importlib._bootstrap>', '<frozen importlib._bootstrap>', false],
  ])("distinguishes the script's code from other code: %s", (path, file, isOwn) => {
    const text = plain.replace('/workspaces/s1/lib/load.py', path);
    expect(parseTraceback(text, places)?.frames[0]).toMatchObject({ file, own: isOwn });
  });

  test('is the last traceback in the output', () => {
    const logged = plain.replace('ValueError', 'OSError');
    const text = `WARNING retrying\n${logged}\nWARNING retrying again\n${plain}`;
    expect(parseTraceback(text, places)).toMatchObject({ type: 'ValueError', causes: [] });
  });

  test('can have a multi-line message', () => {
    const error = parseTraceback(`${plain}\nsecond line\n\nthird`, places);
    expect(error?.message.split('\n').slice(1)).toEqual(['second line', '', 'third']);
  });

  test('ends where other output of the interpreter begins', () => {
    const error = parseTraceback(`${plain}\nException ignored in: <function f>`, places);
    expect(error?.message).toBe("could not convert string to float: 'n/a'");
  });

  test('is not found in other text', () => {
    expect(parseTraceback('usage: main.py [-h]\nmain.py: error: no input', places)).toBeUndefined();
    expect(parseTraceback('', places)).toBeUndefined();
    expect(parseTraceback('Traceback (most recent call last):', places)).toBeUndefined();
  });

  test('with deeply nested groups is parsed to a limited depth', () => {
    const levels = Array.from({ length: 2000 }, (_, depth) => {
      const indent = '  '.repeat(Math.min(depth, 20));
      return `${indent}+ Exception Group Traceback (most recent call last):\n${indent}| E: m\n${indent}+-+---------------- 1 ----------------`;
    });
    expect(parseTraceback(levels.join('\n'), places)).toBeDefined();
  });

  test('never throws for any text', () => {
    const line = fc.oneof(
      fc.constantFrom(...plain.split('\n'), '  | E: x', '  +-+---- 1 ----', '', '    ^^^'),
      fc.constant('During handling of the above exception, another exception occurred:'),
      fc.constant('  + Exception Group Traceback (most recent call last):'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const error = parseTraceback(lines.join('\n'), places);
        if (error !== undefined) expect(error.type).not.toBe('');
      }),
    );
  });
});
