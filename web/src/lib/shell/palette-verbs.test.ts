import { expect, test } from 'vitest';
import { readTyped } from './palette-verbs.ts';

test('a verb comes before a name, and alone it asks for every script', () => {
  expect(readTyped(' Run  night report')).toEqual({ verb: 'run', name: 'night report' });
  expect(readTyped('disable')).toEqual({ verb: 'disable', name: '' });
});

test('what begins with no verb is a name', () => {
  expect(readTyped('night run')).toEqual({ verb: undefined, name: 'night run' });
  expect(readTyped('running')).toEqual({ verb: undefined, name: 'running' });
});
