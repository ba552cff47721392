import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { differences, nextBase, type Hashes } from './plan.ts';

describe('a folder and its script after a sync', () => {
  test.each<[string, Hashes, Hashes, Hashes, string[]]>([
    ['nothing was changed', { a: '1' }, { a: '1' }, { a: '1' }, []],
    ['a file was changed here', { a: '1' }, { a: '2' }, { a: '1' }, ['a here changed']],
    ['a file was changed there', { a: '1' }, { a: '1' }, { a: '2' }, ['a there changed']],
    ['a file is new here', {}, { a: '1' }, {}, ['a here new']],
    ['a file is new there', {}, {}, { a: '1' }, ['a there new']],
    ['a file was deleted here', { a: '1' }, {}, { a: '1' }, ['a here deleted']],
    ['a file was deleted there', { a: '1' }, { a: '1' }, {}, ['a there deleted']],
    ['it was changed on both sides alike', { a: '1' }, { a: '2' }, { a: '2' }, []],
    ['it was changed on both sides', { a: '1' }, { a: '2' }, { a: '3' }, ['a both conflict']],
    ['it is new on both sides', {}, { a: '2' }, { a: '3' }, ['a both conflict']],
    ['it was deleted here, and changed there', { a: '1' }, {}, { a: '3' }, ['a both conflict']],
    ['it was deleted on both sides', { a: '1' }, {}, {}, []],
  ])('when %s', (_what, base, here, there, expected) => {
    const found = differences(base, here, there);
    expect(found.map(({ path, side, change }) => `${path} ${side} ${change}`)).toEqual(expected);
  });
});

const hashes = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '2', '3'), {
  noNullPrototype: true,
});

test('leaves only the remaining differences after a transfer', () => {
  fc.assert(
    fc.property(
      hashes,
      hashes,
      hashes,
      fc.constantFrom('here', 'there'),
      (base, here, there, side) => {
        const found = differences(base, here, there);
        const carried = found.filter((one) => one.side === side).map(({ path }) => path);
        const [source, target] = side === 'here' ? [here, { ...there }] : [there, { ...here }];
        for (const path of carried) {
          const hash = source[path];
          if (hash === undefined) delete target[path];
          else target[path] = hash;
        }
        const after = nextBase(base, here, there, carried, side);
        const sides = side === 'here' ? ([here, target] as const) : ([target, there] as const);
        expect(differences(after, ...sides)).toEqual(found.filter((one) => one.side !== side));
      },
    ),
  );
});
