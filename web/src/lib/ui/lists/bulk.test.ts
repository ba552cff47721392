import { expect, test } from 'vitest';
import { doToEach, collectPages, type Outcome } from './bulk.ts';

/** Applies an action to the items 1 to `count`. */
async function done(count: number, one: (item: number, stop: () => void) => Promise<unknown>) {
  const outcomes: Outcome<number>[] = [];
  const stop = new AbortController();
  const items = Array.from({ length: count }, (_, index) => index + 1);
  await doToEach(items, (item) => one(item, () => stop.abort()), {
    signal: stop.signal,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  return outcomes;
}

test('the action is applied to each item once, and refusals are listed with their reasons', async () => {
  const outcomes = await done(6, (item) =>
    item % 3 === 0 ? Promise.reject(new Error(`not ${item}`)) : Promise.resolve(),
  );
  expect(new Set(outcomes.map(({ item }) => item))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  expect(outcomes.filter(({ refusal }) => refusal !== null)).toEqual([
    { item: 3, refusal: 'not 3' },
    { item: 6, refusal: 'not 6' },
  ]);
});

test('the number of concurrent requests is limited', async () => {
  let now = 0;
  let most = 0;
  await done(20, async () => {
    now += 1;
    most = Math.max(most, now);
    await Promise.resolve();
    now -= 1;
  });
  expect(most).toBe(4);
});

test('no further item is started after the action is stopped', async () => {
  const outcomes = await done(9, (_, stop) => {
    stop();
    return Promise.resolve();
  });
  expect(outcomes).toEqual([{ item: 1, refusal: null }]);
});

test('pages are loaded up to the maximum number of items', async () => {
  const load = (cursor: string | null) => {
    const at = Number(cursor ?? 0);
    return Promise.resolve({ items: [at, at + 1], next_cursor: at < 6 ? String(at + 2) : null });
  };
  expect(await collectPages(load, 100)).toEqual({ items: [0, 1, 2, 3, 4, 5, 6, 7], more: false });
  expect(await collectPages(load, 3)).toEqual({ items: [0, 1, 2], more: true });
});
