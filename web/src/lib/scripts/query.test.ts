import { expect, test } from 'vitest';
import { askedScripts } from './query.ts';

test('an address asks for what it names, and for nothing that the list does not know', () => {
  const query = new URLSearchParams('q=night&group_id=!g&enabled=&color=red&sort=name');
  expect(askedScripts(query)).toEqual({ q: 'night', group_id: '!g', sort: 'name' });
});
