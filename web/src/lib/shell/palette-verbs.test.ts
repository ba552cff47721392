import { expect, test } from 'vitest';
import { readTyped } from './palette-verbs.ts';

test('a verb can precede a name or stand alone', () => {
  expect(readTyped(' Run  night report')).toEqual({ verb: 'run', name: 'night report' });
  expect(readTyped('disable')).toEqual({ verb: 'disable', name: '' });
});

test('text without a verb is treated as a name', () => {
  expect(readTyped('night run')).toEqual({ verb: undefined, name: 'night run' });
  expect(readTyped('running')).toEqual({ verb: undefined, name: 'running' });
});
