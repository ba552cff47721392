import { expect, test } from 'vitest';
import { requestTitle, statusLabel, undecidableReason } from './labels.ts';

test('an approval request is labeled with its status', () => {
  expect(statusLabel('withdrawn')).toBe('Withdrawn');
});

test('the title of an approval request distinguishes runs, changes and restores', () => {
  const subject = { run_id: null, script_id: 's1', script_name: 'Report', script_version: 1 };
  const change = { revision: 1, restores: false, outdated: false };
  expect(requestTitle({ kind: 'run', subject, change: null })).toBe('Run of Report');
  expect(requestTitle({ kind: 'save', subject, change })).toBe('Change to Report');
  expect(requestTitle({ kind: 'save', subject, change: { ...change, restores: true } })).toBe(
    'Restore of Report',
  );
});

test('the user sees why they cannot approve a request', () => {
  expect(undecidableReason('run', true, true)).toBe('Another user must approve the run.');
  expect(undecidableReason('run', false, true)).toMatch(/^Only an administrator can decide/);
  expect(undecidableReason('run', false, false)).toMatch(/^A user who may start runs/);
  expect(undecidableReason('save', true, true)).toBe('Another user must approve the change.');
  expect(undecidableReason('save', false, false)).toMatch(/^A user who may change this script/);
});
