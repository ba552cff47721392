import { expect, test } from 'vitest';
import { fieldLabel, nameOf, formatValue } from './labels.ts';

const names = new Map([
  ['1', 'Report'],
  ['2', 'Mail it'],
]);

test('a difference describes its resource with readable names', () => {
  const before = { script_id: '1', cron: null, interval_seconds: 60 };
  expect(nameOf({ kind: 'schedule', before, after: null }, names)).toBe('every 1 m 00 s of Report');
  const after = { source_script_id: '1', target_script_id: '2' };
  expect(nameOf({ kind: 'chain', before: null, after }, names)).toBe('Report → Mail it');
  const lost = { name: 'push', script_id: '9' };
  expect(nameOf({ kind: 'webhook', before: lost, after: null }, names)).toBe(
    'push of deleted script',
  );
});

test('a difference describes fields and values with readable names', () => {
  expect(fieldLabel('max_concurrent_runs')).toBe('Max concurrent runs');
  expect(fieldLabel('group_ids')).toBe('Group');
  const values = [true, null, [], ['1', '2'], 7, 'plain'];
  expect(values.map((one) => formatValue(one, names))).toEqual([
    'Yes',
    '–',
    '–',
    'Report, Mail it',
    '7',
    'plain',
  ]);
});
