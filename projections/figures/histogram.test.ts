import fc from 'fast-check';
import { expect, test } from 'vitest';
import { added, quantile, withValue, type Histogram } from './histogram.ts';

const of = (values: readonly number[]) =>
  values.reduce<Histogram>((histogram, value) => withValue(histogram, value), {});

test('an empty histogram has no quantiles', () => {
  expect(quantile({}, 0.5)).toBeNull();
});

test('quantiles are accurate to within 5%', () => {
  const values = fc.array(fc.integer({ min: 1, max: 2_600_000_000 }), { minLength: 1 });
  fc.assert(
    fc.property(values, fc.constantFrom(0, 0.5, 0.95, 1), (all, part) => {
      const sorted = all.toSorted((one, other) => one - other);
      const exact = sorted[Math.max(1, Math.ceil(all.length * part)) - 1] ?? 0;
      const read = quantile(of(all), part) ?? 0;
      expect(Math.abs(read - exact) / exact).toBeLessThan(0.05);
    }),
  );
});

test('a quantile can be exactly zero', () => {
  expect(quantile(of([0, 0, 0.4]), 0.95)).toBe(0);
});

test('the sum of several histograms equals the histogram of all values', () => {
  const values = fc.array(fc.nat(100_000));
  fc.assert(
    fc.property(values, values, (one, other) => {
      expect(added(of(one), of(other))).toEqual(of([...one, ...other]));
    }),
  );
});
