import { expect, test } from 'vitest';
import { describePeriod, upcoming } from './labels.ts';

test.each([
  ['2026-12-25T00:00:00', '2026-12-26T00:00:00', '2026-12-25'],
  ['2026-12-25T00:00:00', '2026-12-27T00:00:00', '2026-12-25 to 2026-12-26'],
  ['2026-12-24T12:00:00Z', '2026-12-24T14:00:00Z', '2026-12-24 12:00 to 14:00 UTC'],
  ['2026-12-24T12:00:00', '2026-12-25T14:00:00', '2026-12-24 12:00 to 2026-12-25 14:00'],
])('an event from %s to %s is described as %s', (from, to, text) => {
  expect(describePeriod({ from, to })).toBe(text);
});

test('past events are not listed as upcoming', () => {
  const past = { summary: 'Past', from: '2026-01-01T00:00:00', to: '2026-01-02T00:00:00' };
  const next = { ...past, summary: 'Next', to: '2027-01-01T00:00:00' };
  expect(upcoming([past, next], new Date('2026-11-27T00:00:00Z'))).toEqual([next]);
});
