import { expect, test } from 'vitest';
import { asFilter } from './query.ts';

test('a relative time range is converted to its start time', () => {
  const nowMs = Date.parse('2026-11-21T02:00:00.000Z');
  expect(asFilter({ status: 'failed', since: '24h' }, nowMs)).toEqual({
    status: 'failed',
    from: '2026-11-20T02:00:00.000Z',
  });
  expect(asFilter({ q: 'a', since: 'ever' }, nowMs)).toEqual({ q: 'a' });
});
