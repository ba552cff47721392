import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { differences, nextBase, type Hashes } from './plan.ts';

describe('the plan of a sync', () => {
  test.each<[string, Hashes, Hashes, Hashes, string[]]>([
    ['no change', { a: '1' }, { a: '1' }, { a: '1' }, []],
    ['a local change', { a: '1' }, { a: '2' }, { a: '1' }, ['a here changed']],
    ['a remote change', { a: '1' }, { a: '1' }, { a: '2' }, ['a there changed']],
    ['a new local file', {}, { a: '1' }, {}, ['a here new']],
    ['a new remote file', {}, {}, { a: '1' }, ['a there new']],
    ['a local deletion', { a: '1' }, {}, { a: '1' }, ['a here deleted']],
    ['a remote deletion', { a: '1' }, { a: '1' }, {}, ['a there deleted']],
    ['the same change on both sides', { a: '1' }, { a: '2' }, { a: '2' }, []],
    ['different changes on both sides', { a: '1' }, { a: '2' }, { a: '3' }, ['a both conflict']],
    ['different new files on both sides', {}, { a: '2' }, { a: '3' }, ['a both conflict']],
    ['a local deletion and a remote change', { a: '1' }, {}, { a: '3' }, ['a both conflict']],
    ['a deletion on both sides', { a: '1' }, {}, {}, []],
  ])('for $0 has the differences $4', (_what, base, here, there, expected) => {
    const found = differences(base, here, there);
    expect(found.map(({ path, side, change }) => `${path} ${side} ${change}`)).toEqual(expected);
  });
});

const hashes = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '2', '3'), {
  noNullPrototype: true,
});

test('a sync in one direction leaves only the differences on the other side', () => {
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
