import { expect, test } from 'vitest';
import { settingPairs } from './labels.ts';

test('changed settings have the labels of the settings page, and no internal fields', () => {
  const changes = [
    { name: 'max_concurrent_runs', before: 1, after: 2 },
    { name: 'python', before: null, after: '3.12' },
    { name: 'environment', before: {}, after: { A: '1' } },
    { name: 'resolution', before: null, after: 'x' },
    { name: 'deleted', before: true, after: false },
  ];
  expect(settingPairs(changes)).toEqual([
    { name: 'Max concurrent runs', before: '1', after: '2' },
    { name: 'Python', before: null, after: '3.12' },
    { name: 'Environment variables', before: '{}', after: '{"A":"1"}' },
  ]);
});

test('a changed group has its name, or its ID if the user may not see the group', () => {
  const changes = [{ name: 'group_id', before: 'g1', after: 'g2' }];
  expect(settingPairs(changes, [{ id: 'g1', name: 'Reports' }])).toEqual([
    { name: 'Group', before: 'Reports', after: 'g2' },
  ]);
});
