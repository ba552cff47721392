/** Parses tracebacks from real interpreters. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exception, RaisedError } from '#domain/run/error/error.ts';
import { parseTraceback } from '#domain/run/error/traceback.ts';
import { listPythons, type Python } from './sandbox/python.ts';

const pythons = await listPythons(process.env['PATH'] ?? '');
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'orch-tracebacks-'));
  mkdirSync(join(root, 'lib'));
  writeFileSync(join(root, 'lib', 'broken.py'), 'value = (1,\n');
  writeFileSync(join(root, 'lib', 'work.py'), 'def load(value):\n    return float(value)\n');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function fail({ executable }: Python, code: string): RaisedError | undefined {
  writeFileSync(join(root, 'main.py'), code);
  const { stderr } = spawnSync(executable, [join(root, 'main.py')], { encoding: 'utf8' });
  return parseTraceback(stderr, { root });
}

/** Whether the version has exception groups, which were added in Python 3.11. */
function hasGroups({ version }: Python): boolean {
  return Number(version.split('.')[1]) >= 11;
}

/** Returns the frames in the script as `file:line function`. */
function placesOf(error: Exception | undefined): readonly string[] | undefined {
  const own = error?.frames.filter((frame) => frame.own);
  return own?.map(({ file, line, function: name }) => `${file}:${line} ${name}`);
}

const raisesInChain = `def first():
    raise OSError('disk')
try:
    first()
except OSError as error:
    raise RuntimeError('no report') from error
`;

test('at least one interpreter is available', () => {
  expect(pythons.length).toBeGreaterThan(0);
});

describe.each(pythons)('Python $version', (python) => {
  test.each([
    ['1 / 0', 'ZeroDivisionError', 'division by zero', ['main.py:1 <module>']],
    ['{}["x"]', 'KeyError', "'x'", ['main.py:1 <module>']],
    ['assert False', 'AssertionError', '', ['main.py:1 <module>']],
    ['raise ValueError("a: b\\nsecond")', 'ValueError', 'a: b\nsecond', ['main.py:1 <module>']],
    ['class Mine(Exception): pass\nraise Mine("ü")', 'Mine', 'ü', ['main.py:2 <module>']],
    [
      'import json\njson.loads("{")',
      'json.decoder.JSONDecodeError',
      'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)',
      ['main.py:2 <module>'],
    ],
    ['import nowhere', 'ModuleNotFoundError', "No module named 'nowhere'", ['main.py:1 <module>']],
    [
      'from lib.work import load\nload("n/a")',
      'ValueError',
      "could not convert string to float: 'n/a'",
      ['main.py:2 <module>', 'lib/work.py:2 load'],
    ],
    ['raise KeyboardInterrupt', 'KeyboardInterrupt', '', ['main.py:1 <module>']],
    [
      'async def work():\n    raise OSError(2, "gone", "f")\nimport asyncio\nasyncio.run(work())',
      'FileNotFoundError',
      "[Errno 2] gone: 'f'",
      ['main.py:4 <module>', 'main.py:2 work'],
    ],
  ])('reports the exception raised by %j', (code, type, message, places) => {
    const error = fail(python, code);
    expect(error).toMatchObject({ type, message, causes: [] });
    expect(placesOf(error)).toEqual(places);
  });

  test('names the file and line of a syntax error', () => {
    const main = fail(python, 'x = 1\nvalue = = 2\n');
    expect(main).toMatchObject({ type: 'SyntaxError', causes: [] });
    expect(placesOf(main)).toEqual(['main.py:2 <module>']);
    const imported = fail(python, 'import lib.broken\n');
    expect(imported?.type).toBe('SyntaxError');
    expect(placesOf(imported)?.[0]).toBe('main.py:1 <module>');
    expect(imported?.frames.at(-1)).toMatchObject({ file: 'lib/broken.py', own: true });
  });

  test('includes the cause of an exception', () => {
    const error = fail(python, raisesInChain);
    expect(error).toMatchObject({ type: 'RuntimeError', message: 'no report' });
    const [cause] = error?.causes ?? [];
    expect(cause).toMatchObject({ type: 'OSError', message: 'disk', relation: 'cause' });
    expect(placesOf(cause)).toEqual(['main.py:4 <module>', 'main.py:2 first']);
  });

  test('names the function that recurses infinitely', () => {
    const error = fail(python, 'def deeper():\n    deeper()\ndeeper()\n');
    expect(error).toMatchObject({ type: 'RecursionError' });
    expect(new Set(placesOf(error))).toEqual(new Set(['main.py:3 <module>', 'main.py:2 deeper']));
  });

  test('reports no exception for a script that succeeds', () => {
    expect(fail(python, 'import sys\nsys.exit("no input")')).toBeUndefined();
  });
});

describe.each(pythons.filter(hasGroups))('Python $version', (python) => {
  test('lists the members of an exception group', () => {
    const inner = 'ExceptionGroup("inner", [TypeError("two")])';
    const error = fail(python, `raise ExceptionGroup("all", [ValueError("one"), ${inner}])`);
    expect(error).toMatchObject({ type: 'ExceptionGroup', message: 'all (2 sub-exceptions)' });
    const types = error?.causes.map(({ type }) => type);
    expect(types).toEqual(['ValueError', 'ExceptionGroup', 'TypeError']);
    expect(error?.causes.every(({ relation }) => relation === 'member')).toBe(true);
    expect(error?.causes.map(({ depth }) => depth)).toEqual([1, 1, 2]);
  });
});
