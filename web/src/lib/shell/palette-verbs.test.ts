import { expect, test } from 'vitest';
import { readTyped } from './palette-verbs.ts';

test('reads a verb before a name, and a lone verb as one for all scripts', () => {
  expect(readTyped(' Run  night report')).toEqual({ verb: 'run', name: 'night report' });
  expect(readTyped('disable')).toEqual({ verb: 'disable', name: '' });
});

test('reads text without a verb as a name', () => {
  expect(readTyped('night run')).toEqual({ verb: undefined, name: 'night run' });
  expect(readTyped('running')).toEqual({ verb: undefined, name: 'running' });
});
