import { expect, test } from 'vitest';
import { parseParams } from './parse-params.ts';

test('an object is taken, and nothing at all is an empty object', () => {
  expect(parseParams('{"limit": 10}')).toEqual({ params: { limit: 10 } });
  expect(parseParams(' \n')).toEqual({ params: {} });
});

test.each(['[1]', '1', 'null', '{"limit": }', `{"x": "${'y'.repeat(65_536)}"}`])(
  '%.12s… is explained',
  (text) => expect(parseParams(text).problem).toBeTruthy(),
);
