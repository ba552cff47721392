/** Tests with tracebacks from real interpreters are in services/runtime/tracebacks.test.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLogged, parseFatalError, parseFormatted, parseTraceback } from './traceback.ts';

const places = { root: '/workspaces/s1' };
const plain = `Traceback (most recent call last):
  File "/workspaces/s1/lib/load.py", line 12, in load
    return float(value)
           ^^^^^^^^^^^^
ValueError: could not convert string to float: 'n/a'`;

const during = 'During handling of the above exception, another exception occurred:';

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

  test('is the last of several tracebacks in the output', () => {
    const logged = plain.replace('ValueError', 'OSError');
    const text = `WARNING retrying\n${logged}\nWARNING retrying again\n${plain}`;
    expect(parseTraceback(text, places)).toMatchObject({ type: 'ValueError', causes: [] });
  });

  test('can have a multi-line message', () => {
    const error = parseTraceback(`${plain}\nsecond line\n\nthird`, places);
    expect(error?.message.split('\n').slice(1)).toEqual(['second line', '', 'third']);
  });

  test.each([
    'level=info msg="closed" ts=2026-01-01T12:00:00Z',
    'ts=2026-01-01T12:00:00Z caller=main.py:3 level=info msg="closed"',
    'ts=2026-01-01T12:00:00Z msg="closed"',
    'INFO     closed                      main.py:3',
    '2026-01-01 12:00:00,123 - name - INFO - closed',
    'I0101 12:00:00.123456 140 main.py:5] closed',
    '/app/main.py:3: DeprecationWarning: closed',
    '"""',
    "'''",
  ])('ends before the next record: %s', (record) => {
    const error = parseTraceback(`${plain}\nsecond line\n${record}\nmore`, places);
    expect(error?.message).toBe("could not convert string to float: 'n/a'\nsecond line");
  });

  test('can have a message whose first line is empty', () => {
    const error = parseTraceback(plain.replace(/could not.*/, '\nsecond line'), places);
    expect(error).toMatchObject({ type: 'ValueError', message: '\nsecond line' });
  });

  test('ends where other output of the interpreter begins', () => {
    const error = parseTraceback(`${plain}\nException ignored in: <function f>`, places);
    expect(error?.message).toBe("could not convert string to float: 'n/a'");
  });

  test('is not found in text without a complete traceback', () => {
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

  test.each([
    ['an error record', `ERROR:root:not loaded\n${plain}`, true],
    [
      'an error record followed by another record',
      `ERROR:root:not loaded\n${plain}\nINFO:root:closing`,
      true,
    ],
    ['an error record with a cause', `ERROR:root:x\n${plain}\n\n${during}\n\n${plain}`, true],
    ['an uncaught exception', plain, false],
    ['an uncaught exception with a cause', `${plain}\n\n${during}\n\n${plain}`, false],
    ['an uncaught exception after a record', `INFO:root:loading\n${plain}`, false],
    ['a record without a traceback', 'ERROR:root:not loaded', false],
    ['a heading without the start of its chain', `${during}\n\n${plain}`, false],
  ])('in $0 belongs to a log record: $2', (_case, text, expected) => {
    expect(isLogged(text)).toBe(expected);
  });

  test('can be searched for in any text', () => {
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
        expect(() => isLogged(lines.join('\n'))).not.toThrow();
      }),
    );
  });
});

describe('the text of an exception', () => {
  test('includes its causes', () => {
    const error = parseFormatted(`${plain}\n\n${during}\n\n${plain}\nmore`, places);
    expect(error?.message).toBe("could not convert string to float: 'n/a'\nmore");
    expect(error?.causes).toMatchObject([{ type: 'ValueError', relation: 'context' }]);
  });

  test('can contain a traceback and a record in its message', () => {
    const message = `child failed:\nERROR:root:x\n${plain}\n\nend`;
    const text = plain.replace(/could not.*/, message);
    for (const known of [message, undefined]) {
      const error = parseFormatted(`${text}\n`, places, known);
      expect(error).toMatchObject({ type: 'ValueError', message, causes: [] });
      expect(error?.frames).toHaveLength(1);
    }
  });

  test('can contain a chain of tracebacks in its message', () => {
    const message = `child failed:\n${plain}\n\n${during}\n\n${plain}`;
    const text = plain.replace(/could not.*/, message);
    const error = parseFormatted(text, places, message);
    expect(error).toMatchObject({ type: 'ValueError', message, causes: [] });
  });
});

describe('a fatal error', () => {
  const fatal = `INFO:root:loading
Fatal Python error: Segmentation fault

Thread 0x00007f575db7f2c1 (most recent call first):
  File "/workspaces/s1/main.py", line 90 in wait

Current thread 0x00007f575db7f2c0 [python] (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/workspaces/s1/main.py", line 4 in <module>

Extension modules: numpy`;

  test('contains the stack frames of the thread that caused it', () => {
    expect(parseFatalError(fatal, places)).toMatchObject({
      message: 'Segmentation fault',
      frames: [
        { file: 'main.py', line: 4, function: '<module>', own: true },
        { line: 519, function: 'string_at', own: false },
      ],
    });
  });

  test('is not found in text without a report of a fatal error', () => {
    expect(parseFatalError(plain, places)).toBeUndefined();
    expect(parseFatalError('Fatal Python error: Aborted', places)).toMatchObject({ frames: [] });
  });
});
