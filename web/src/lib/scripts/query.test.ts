import { expect, test } from 'vitest';
import { askedScripts } from './query.ts';

test('reads the known filters of a URL, and ignores others', () => {
  const query = new URLSearchParams('q=night&group_id=!g&enabled=&color=red&sort=name');
  expect(askedScripts(query)).toEqual({ q: 'night', group_id: '!g', sort: 'name' });
});
