import { expect, test } from 'vitest';
import { choiceOf, choiceText, isMeant } from './choice.ts';

test.each(['', 'failed', 'failed,stopped', '!success'])('%j is read and written', (text) => {
  expect(choiceText(choiceOf(text))).toBe(text);
});

test('a list has what is chosen, or all but that', () => {
  expect(isMeant(undefined, 'failed')).toBe(true);
  expect(isMeant('failed,stopped', 'stopped')).toBe(true);
  expect(isMeant('failed', 'stopped')).toBe(false);
  expect(isMeant('!failed', 'stopped')).toBe(true);
  expect(isMeant('!failed,stopped', 'stopped')).toBe(false);
});
