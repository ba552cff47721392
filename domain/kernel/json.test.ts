import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, isStorable } from './json.ts';

describe('canonicalJson', () => {
  test('returns the same text regardless of the order of keys, at any depth', () => {
    const one = { a: 1, b: [{ c: null, d: 'x' }] };
    expect(canonicalJson({ b: [{ d: 'x', c: null }], a: 1 })).toBe(canonicalJson(one));
  });

  test('returns different text for lists in a different order', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });

  test('returns text that parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('isStorable', () => {
  test.each(['', 'a\nb', 'é😀', 7, null, undefined, ['a', { b: 'c' }]])('accepts %j', (value) => {
    expect(isStorable(value)).toBe(true);
  });

  test.each(['a\0b', '\ud83d', '\ude00', ['a', '\0'], { a: { b: '\0' } }, { 'a\0': 1 }])(
    'rejects %j',
    (value) => {
      expect(isStorable(value)).toBe(false);
    },
  );
});
