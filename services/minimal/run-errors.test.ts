/** Tests the recorded errors of scripts that fail in many ways. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunError } from '#domain/run/error/error.ts';
import { failingScripts } from './testing/failing-scripts.ts';
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

/** Returns the frames in the script's own code as `file:line function: code`. */
function placesOf(error: Pick<RunError, 'frames'> | null): readonly string[] | undefined {
  const own = error?.frames.filter((frame) => frame.own);
  return own?.map(({ file, line, function: name, code }) => `${file}:${line} ${name}: ${code}`);
}

describe('the error of a run', { timeout: 120_000 }, () => {
  test('is absent for a successful run', async () => {
    expect(await errorOf('print("fine")')).toBeNull();
  });

  test.each(failingScripts)('has the expected headline and source line: $name', async (script) => {
    const { files, settings, type, message, place, causes = [], source } = script;
    const error = await errorOf(files, settings);
    expect(error).toMatchObject({ type, message: expect.stringMatching(message), source });
    expect(placesOf(error)?.at(-1)).toBe(place);
    const led = error?.causes.flatMap(({ depth = 1, omitted, ...cause }) => {
      const indent = '  '.repeat(depth - 1);
      const place = (placesOf(cause) ?? []).slice(-1);
      const line = [`${indent}${cause.relation}`, cause.type, ...place].join(' ');
      return omitted === undefined ? [line] : [`${indent}${omitted} omitted`, line];
    });
    expect(led).toEqual(causes);
  });

  test('names a missing entry point', async () => {
    const scriptId = await product.script('Moved', { 'main.py': '' });
    await product.call('PATCH', `/scripts/${scriptId}`, { entrypoint: 'gone.py' });
    const { run_id: runId } = await product.run(scriptId);
    expect(await product.untilFinished(runId)).toMatchObject({
      error: {
        type: 'environment_error',
        message: 'The entry point "gone.py" does not exist in version 3 of the script.',
      },
    });
  });

  test('is found in stdout when the script merges stderr into stdout', async () => {
    const code = `import os, sys
for number in range(200):
    os.write(1 + number % 2, b"line %d\\n" % number)
os.environ.pop("ORCH_SOCKET")
1 / 0`;
    const scriptId = await product.script('Merged', { 'main.py': code }, { merge_stderr: true });
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    const lines = (await product.log(runId)).filter(({ stream }) => stream !== 'system');
    expect(lines.slice(0, 200).map(({ text }) => text)).toEqual(
      Array.from({ length: 200 }, (_, number) => `line ${number}`),
    );
    expect(new Set(lines.map(({ stream }) => stream))).toEqual(new Set(['stdout']));
    const { error } = (await product.runState(runId)) as unknown as { readonly error: RunError };
    expect(error).toMatchObject({ type: 'ZeroDivisionError', source: 'log' });
  });

  test.each([
    ['in its text', 'hunter2hunter2', 'raise ValueError(key)', /^\*\*\*$/],
    ['in an escaped text', `it's "5\\6" ö`, 'raise KeyError(key)', /^'\*\*\*'$/],
    [
      'in a note',
      `it's "5\\6" ö`,
      'error = ValueError("no")\nerror.add_note(ascii({key}))\nraise error',
      /^no\n\{'\*\*\*'\}$/,
    ],
    [
      'at the end of a truncated text',
      Array.from({ length: 60 }, (_, index) => `k${1000 + index}`).join(''),
      'raise ValueError(f"{key} " * 1000)',
      /^(?:\*\*\* )+\*\*\*… \(truncated\)$/,
    ],
  ])('contains no secret %s', async (_place, value, raises, message) => {
    const code = `import os\nkey = os.environ["KEY"]\n${raises}`;
    const scriptId = await product.script('Leaks', { 'main.py': code });
    await product.call('PUT', `/scripts/${scriptId}/secrets/KEY`, { value, as_environment: true });
    const { run_id: runId } = await product.run(scriptId);
    await product.untilFinished(runId);
    const { error } = (await product.runState(runId)) as unknown as { readonly error: RunError };
    expect(error).toMatchObject({ message: expect.stringMatching(message), source: 'hook' });
    expect(JSON.stringify(await product.log(runId))).not.toMatch(/hunter2|5\\+6|k1001/);
  });
});
