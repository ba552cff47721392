import { expect, test } from 'vitest';
import { mayDo } from './rights.ts';

test('an operator starts, stops, disables and reads code, and neither edits nor enables', () => {
  const rights = ['startStop', 'disable', 'readFiles', 'editScripts', 'enable'] as const;
  expect(rights.map((right) => mayDo('operator', right))).toEqual([true, true, true, false, false]);
});

test('a viewer has none of the rights', () => {
  expect(mayDo('viewer', 'readFiles')).toBe(false);
  expect(mayDo('viewer', 'startStop')).toBe(false);
});
