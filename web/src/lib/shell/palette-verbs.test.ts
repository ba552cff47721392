import { expect, test } from 'vitest';
import { readTyped } from './palette-verbs.ts';

test('parses a verb before a name, and offers all scripts for a verb alone', () => {
  expect(readTyped(' Run  night report')).toEqual({ verb: 'run', name: 'night report' });
  expect(readTyped('disable')).toEqual({ verb: 'disable', name: '' });
});

test('treats text without a verb as a name', () => {
  expect(readTyped('night run')).toEqual({ verb: undefined, name: 'night run' });
  expect(readTyped('running')).toEqual({ verb: undefined, name: 'running' });
});
