import { expect, test } from 'vitest';
import { statusLabel, undecidableReason } from './labels.ts';

test('a request has the label of its status', () => {
  expect(statusLabel('withdrawn')).toBe('Withdrawn');
});

test('a request that the user cannot approve shows the reason', () => {
  expect(undecidableReason('run', true, true)).toBe('Another user must approve the run.');
  expect(undecidableReason('run', false, true)).toMatch(/^An administrator must decide/);
  expect(undecidableReason('run', false, false)).toMatch(/^A user who may start runs/);
  expect(undecidableReason('save', true, true)).toBe('Another user must approve the change.');
  expect(undecidableReason('save', false, false)).toMatch(/^A user who may change this script/);
});
