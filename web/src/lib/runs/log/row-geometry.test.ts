import { describe, expect, test } from 'vitest';
import { geometry, rowHeightPx, scrollTopOf, wrappedGeometry } from './row-geometry.ts';

const viewportPx = 600;

describe.each([10, 1000, 400_000, 1_000_000, 50_000_000])('%i rows', (rowCount) => {
  test('end at the bottom of the list when the list is scrolled to its end', () => {
    const { heightPx } = geometry(rowCount, 0, viewportPx);
    const end = geometry(rowCount, Math.max(0, heightPx - viewportPx), viewportPx);
    expect(end.first + end.count).toBe(rowCount);
    expect(end.topPx + end.count * rowHeightPx).toBeCloseTo(heightPx, 0);
  });

  test('cover the viewport with fewer than 100 drawn rows at any scroll position', () => {
    const { heightPx } = geometry(rowCount, 0, viewportPx);
    for (const share of [0, 0.123, 0.5, 0.987, 1]) {
      const scrollTopPx = share * Math.max(0, heightPx - viewportPx);
      const drawn = geometry(rowCount, scrollTopPx, viewportPx);
      expect(drawn.count).toBeLessThan(100);
      expect(drawn.topPx).toBeLessThanOrEqual(scrollTopPx);
      const bottomPx = drawn.topPx + drawn.count * rowHeightPx;
      expect(bottomPx).toBeGreaterThanOrEqual(Math.min(heightPx, scrollTopPx + viewportPx) - 1);
    }
  });

  test('include the target row after a jump', () => {
    const row = Math.floor(rowCount * 0.7);
    const drawn = geometry(rowCount, scrollTopOf(row, rowCount, viewportPx), viewportPx);
    expect(drawn.first).toBeLessThanOrEqual(row);
    expect(drawn.first + drawn.count).toBeGreaterThan(row);
  });
});

test('an empty list has no height', () => {
  expect(geometry(0, 0, viewportPx)).toMatchObject({ heightPx: 0, count: 0 });
});

describe.each([1, 40, 1000, 1_000_000])('%i wrapped rows', (rowCount) => {
  test('include the last row when the list is scrolled to its end', () => {
    const { heightPx } = wrappedGeometry(rowCount, 0, viewportPx);
    const end = wrappedGeometry(rowCount, Math.max(0, heightPx - viewportPx), viewportPx);
    expect(end.fromEnd).toBe(true);
    expect(end.first + end.count).toBe(rowCount);
  });

  test('include enough rows to fill the viewport when the list is scrolled to the middle', () => {
    const { heightPx } = wrappedGeometry(rowCount, 0, viewportPx);
    const drawn = wrappedGeometry(rowCount, (heightPx - viewportPx) / 3, viewportPx);
    const left = rowCount - drawn.first;
    expect(drawn.count).toBe(Math.min(left, viewportPx / rowHeightPx + 1));
  });
});
