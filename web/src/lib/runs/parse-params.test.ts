import { expect, test } from 'vitest';
import { parseParams } from './parse-params.ts';

test('accepts an object, and parses an empty field as an empty object', () => {
  expect(parseParams('{"limit": 10}')).toEqual({ params: { limit: 10 } });
  expect(parseParams(' \n')).toEqual({ params: {} });
});

test.each(['[1]', '1', 'null', '{"limit": }', `{"x": "${'y'.repeat(65_536)}"}`])(
  'explains the problem with %.12s…',
  (text) => expect(parseParams(text).problem).toBeTruthy(),
);
