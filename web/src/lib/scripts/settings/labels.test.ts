import { expect, test } from 'vitest';
import { settingPairs } from './labels.ts';

test('changed settings have the labels of the settings page; internal fields are omitted', () => {
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
    { name: 'Environment variables: A', before: null, after: '1' },
  ]);
});

test('a setting with several fields has a row for each changed field', () => {
  const limits = { memory_bytes: 268435456, timeout_seconds: 60, cpu_seconds: null };
  const changes = [
    { name: 'limits', before: limits, after: { ...limits, timeout_seconds: 90 } },
    { name: 'retry', before: null, after: { max_attempts: 3 } },
    { name: 'resident', before: {}, after: null },
  ];
  expect(settingPairs(changes)).toEqual([
    { name: 'Run limits: timeout seconds', before: '60', after: '90' },
    { name: 'Retries: max attempts', before: null, after: '3' },
    { name: 'Resident processes', before: '{}', after: null },
  ]);
});

test('a changed group is shown by its name, or by its ID if the user cannot see the group', () => {
  const changes = [{ name: 'group_id', before: 'g1', after: 'g2' }];
  expect(settingPairs(changes, [{ id: 'g1', name: 'Reports' }])).toEqual([
    { name: 'Group', before: 'Reports', after: 'g2' },
  ]);
});
