import { expect, test } from 'vitest';
import { parseParams } from './parse-params.ts';

test('an object is accepted, and an empty field is parsed as an empty object', () => {
  expect(parseParams('{"limit": 10}')).toEqual({ params: { limit: 10 } });
  expect(parseParams(' \n')).toEqual({ params: {} });
});

test.each(['[1]', '1', 'null', '{"limit": }', `{"x": "${'y'.repeat(65_536)}"}`])(
  'the text %.12s… is refused with an explanation',
  (text) => expect(parseParams(text).problem).toBeTruthy(),
);
