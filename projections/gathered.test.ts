import { expect, test } from 'vitest';
import { gathered } from './gathered.ts';

function given() {
  const asked: string[][] = [];
  const find = gathered<string, string>((keys) => {
    asked.push([...keys]);
    return Promise.resolve(
      new Map(keys.filter((key) => key !== 'z').map((key) => [key, key + key])),
    );
  });
  return { asked, find };
}

test('questions of one turn are asked together, each once', async () => {
  const { asked, find } = given();
  expect(await Promise.all([find('a'), find('b'), find('a'), find('z')])).toEqual([
    'aa',
    'bb',
    'aa',
    undefined,
  ]);
  expect(asked).toEqual([['a', 'b', 'z']]);
});

test('what was answered before is asked again', async () => {
  const { asked, find } = given();
  await find('a');
  await find('a');
  expect(asked).toEqual([['a'], ['a']]);
});

test('a question that comes while another is being answered does not share its answer', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let now = 'old';
  const find = gathered<string, string>(async () => {
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

test('a failure is told to all who asked, and the next question is asked anew', async () => {
  let fails = true;
  const find = gathered<string, string>(() =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve(new Map([['a', 'aa']])),
  );
  const answers = await Promise.allSettled([find('a'), find('b')]);
  expect(answers.map((answer) => answer.status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await find('a')).toBe('aa');
});
