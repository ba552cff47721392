import { expect, test } from 'vitest';
import { batched } from './batched.ts';

function given() {
  const asked: string[][] = [];
  const find = batched<string, string>((keys) => {
    asked.push([...keys]);
    return Promise.resolve(
      new Map(keys.filter((key) => key !== 'z').map((key) => [key, key + key])),
    );
  });
  return { asked, find };
}

test('lookups from the same task are batched without duplicates', async () => {
  const { asked, find } = given();
  expect(await Promise.all([find('a'), find('b'), find('a'), find('z')])).toEqual([
    'aa',
    'bb',
    'aa',
    undefined,
  ]);
  expect(asked).toEqual([['a', 'b', 'z']]);
});

test('a lookup after a completed batch queries again', async () => {
  const { asked, find } = given();
  await find('a');
  await find('a');
  expect(asked).toEqual([['a'], ['a']]);
});

test('a lookup that arrives during the query does not share its result', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let now = 'old';
  const find = batched<string, string>(async () => {
    const answer = new Map([['a', now]]);
    if (now === 'old') await promise;
    return answer;
  });
  const first = find('a');
  await new Promise((done) => setImmediate(done));
  now = 'new';
  expect(await find('a')).toBe('new');
  resolve();
  expect(await first).toBe('old');
});

test('all lookups of a failed batch are rejected, and the next lookup queries again', async () => {
  let fails = true;
  const find = batched<string, string>(() =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve(new Map([['a', 'aa']])),
  );
  const answers = await Promise.allSettled([find('a'), find('b')]);
  expect(answers.map((answer) => answer.status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await find('a')).toBe('aa');
});
