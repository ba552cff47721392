import { expect, test } from 'vitest';
import { moveSelection } from './time-selection.ts';

const day = [0, 24] as const;

test('selects the latest bucket on the first key press', () => {
  expect(moveSelection(null, -1, false, day)).toEqual({ from: 23, to: 24 });
});

test('moves the selection with arrow keys, within the range', () => {
  const stretch = { from: 1, to: 3 };
  expect(moveSelection(stretch, 1, false, day)).toEqual({ from: 2, to: 4 });
  expect(moveSelection(stretch, -1, false, day)).toEqual({ from: 0, to: 2 });
  expect(moveSelection({ from: 0, to: 2 }, -1, false, day)).toEqual({ from: 0, to: 2 });
  expect(moveSelection({ from: 21.5, to: 23.5 }, 1, false, day)).toEqual({ from: 22, to: 24 });
});

test('moves the end of the selection with Shift, and keeps at least one bucket', () => {
  expect(moveSelection({ from: 1, to: 3 }, 1, true, day)).toEqual({ from: 1, to: 4 });
  expect(moveSelection({ from: 1, to: 2 }, -1, true, day)).toEqual({ from: 1, to: 2 });
  expect(moveSelection({ from: 22, to: 24 }, 1, true, day)).toEqual({ from: 22, to: 24 });
});
