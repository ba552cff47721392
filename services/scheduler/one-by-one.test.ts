import { expect, test } from 'vitest';
import { oneByOne } from './one-by-one.ts';

/** Processes the numbers 1 to `count`. Processing fails for the numbers in `bad`. */
async function doAll(count: number, bad: readonly number[]) {
  const done: number[] = [];
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const outcome = oneByOne(numbers, async (number) => {
    await Promise.resolve();
    if (bad.includes(number)) throw new Error(`no ${number}`);
    done.push(number);
  });
  const error = await outcome.then(
    () => undefined,
    (reason: unknown) => (reason as Error).message,
  );
  return { done, error };
}

test('all items are processed in order', async () => {
  expect(await doAll(3, [])).toEqual({ done: [1, 2, 3], error: undefined });
});

test('a failed item does not stop the others, and its error is thrown at the end', async () => {
  expect(await doAll(5, [1, 3])).toEqual({ done: [2, 4, 5], error: 'no 1' });
});

test('too many failed items stop the processing', async () => {
  expect(await doAll(6, [1, 2, 3, 4])).toEqual({ done: [], error: 'no 1' });
  expect(await doAll(6, [2, 4, 5])).toEqual({ done: [1, 3], error: 'no 2' });
});
