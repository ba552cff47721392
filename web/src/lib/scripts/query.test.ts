import { expect, test } from 'vitest';
import { askedScripts } from './query.ts';

test('known filters in a URL are parsed, and others are ignored', () => {
  const query = new URLSearchParams('q=night&group_id=!g&enabled=&color=red&sort=name');
  expect(askedScripts(query)).toEqual({ q: 'night', group_id: '!g', sort: 'name' });
});
