/** Scripts that fail in many ways: what the platform says went wrong. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunError } from '#domain/run/error/error.ts';
import { isAlive, Product } from './testing/product.ts';

let product: Product;
beforeAll(async () => {
  product = await Product.start();
}, 120_000);
afterAll(async () => {
  const left = await product.stop();
  await product.remove();
  expect(left.filter(isAlive)).toEqual([]);
});

async function errorOf(
  files: string | Readonly<Record<string, string>>,
  settings: object = {},
): Promise<RunError | null> {
  const all = typeof files === 'string' ? { 'main.py': files } : files;
  const scriptId = await product.script('Fails', all, settings);
  const { run_id: runId } = await product.run(scriptId);
  await product.untilFinished(runId);
  return ((await product.runState(runId)) as unknown as { readonly error: RunError | null }).error;
}

/** The own places as `file:line function: code`. */
function placesOf(error: Pick<RunError, 'frames'> | null): readonly string[] | undefined {
  const own = error?.frames.filter((frame) => frame.own);
  return own?.map(({ file, line, function: name, code }) => `${file}:${line} ${name}: ${code}`);
}

describe('the error of a run', { timeout: 120_000 }, () => {
  test('is absent for a successful run', async () => {
    expect(await errorOf('print("fine")')).toBeNull();
  });

  test.each([
    ['x = 1\nx / 0', 'ZeroDivisionError', /^division by zero$/, ['main.py:2 <module>: x / 0']],
    ['{}["k"]', 'KeyError', /^'k'$/, ['main.py:1 <module>: {}["k"]']],
    [
      'assert 1 == 2, "sums"',
      'AssertionError',
      /^sums$/,
      ['main.py:1 <module>: assert 1 == 2, "sums"'],
    ],
    [
      'class Mine(Exception): pass\nraise Mine("a\\nb")',
      'Mine',
      /^a\nb$/,
      ['main.py:2 <module>: raise Mine("a\\nb")'],
    ],
    [
      'import nowhere_at_all',
      'ModuleNotFoundError',
      /nowhere_at_all/,
      ['main.py:1 <module>: import nowhere_at_all'],
    ],
    [
      'import json\njson.loads("{")',
      'json.decoder.JSONDecodeError',
      /column 2/,
      ['main.py:2 <module>: json.loads("{")'],
    ],
    [
      'open("/nothing/here")',
      'FileNotFoundError',
      /nothing\/here/,
      ['main.py:1 <module>: open("/nothing/here")'],
    ],
    ['def f():\n    f()\nf()', 'RecursionError', /recursion/, undefined],
    ['x = 1\nx = = 2', 'SyntaxError', /invalid syntax/, ['main.py:2 <module>: x = = 2']],
    ['if True:\nprint(1)', 'IndentationError', /indent/, ['main.py:2 <module>: print(1)']],
  ])('contains the exception of %j', async (code, type, message, places) => {
    const error = await errorOf(code);
    expect(error).toMatchObject({ type, message: expect.stringMatching(message), source: 'log' });
    if (places !== undefined) expect(placesOf(error)).toEqual(places);
  });

  test('contains positions in modules of the script, and its causes', async () => {
    const error = await errorOf({
      'main.py': 'from lib.load import rows\nrows("n/a")\n',
      'lib/load.py': `def rows(text):
    try:
        return float(text)
    except ValueError as error:
        raise RuntimeError("no rows") from error
`,
    });
    expect(error).toMatchObject({ type: 'RuntimeError', message: 'no rows' });
    expect(placesOf(error)).toEqual([
      'main.py:2 <module>: rows("n/a")',
      'lib/load.py:5 rows: raise RuntimeError("no rows") from error',
    ]);
    const [cause] = error?.causes ?? [];
    expect(cause).toMatchObject({ type: 'ValueError', relation: 'cause' });
    expect(placesOf(cause ?? null)).toEqual(['lib/load.py:3 rows: return float(text)']);
  });

  test.each([
    ['import sys; sys.exit(3)', {}, 'exit_code', /exit code 3/],
    ['import os; os.kill(os.getpid(), 11)', {}, 'exit_code', /SIGSEGV/],
    ['import time; time.sleep(60)', { limits: { wall_clock_seconds: 1 } }, 'timeout', /1 s/],
    [
      'held = bytearray(512 * 1024 * 1024)',
      { limits: { memory_bytes: 64 * 1024 * 1024 } },
      'memory_limit',
      /./,
    ],
  ])('is the kind of end of %j', async (code, settings, type, message) => {
    const error = await errorOf(code, settings);
    expect(error).toMatchObject({ type, message: expect.stringMatching(message) });
    expect(error?.source).toBe('platform');
  });

  test('is an environment error when a package cannot be installed', async () => {
    const files = { 'main.py': 'print(1)', 'requirements.txt': 'no such requirement !!\n' };
    const error = await errorOf(files);
    expect(error).toMatchObject({ type: 'environment_error', source: 'platform', frames: [] });
    expect(error?.message).not.toBe('');
  });

  test('contains no secret', async () => {
    const code = 'import os\nraise ValueError(os.environ["KEY"])';
    const scriptId = await product.script('Leaks', { 'main.py': code });
    await product.call('PUT', `/scripts/${scriptId}/secrets/KEY`, {
      value: 'hunter2hunter2',
      as_environment: true,
    });
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    const { error } = (await product.runState(runId)) as unknown as { readonly error: RunError };
    expect(error).toMatchObject({ type: 'ValueError', message: '***' });
  });
});
