import { expect, test } from 'vitest';
import { moveSelection } from './time-selection.ts';

const day = [0, 24] as const;

test('the first key press selects the latest part of the chart', () => {
  expect(moveSelection(null, -1, false, day)).toEqual({ from: 23, to: 24 });
});

test('arrow keys move the selection within the range', () => {
  const stretch = { from: 1, to: 3 };
  expect(moveSelection(stretch, 1, false, day)).toEqual({ from: 2, to: 4 });
  expect(moveSelection(stretch, -1, false, day)).toEqual({ from: 0, to: 2 });
  expect(moveSelection({ from: 0, to: 2 }, -1, false, day)).toEqual({ from: 0, to: 2 });
  expect(moveSelection({ from: 21.5, to: 23.5 }, 1, false, day)).toEqual({ from: 22, to: 24 });
});

test('Shift with an arrow key moves the end of the selection and keeps a minimum length', () => {
  expect(moveSelection({ from: 1, to: 3 }, 1, true, day)).toEqual({ from: 1, to: 4 });
  expect(moveSelection({ from: 1, to: 2 }, -1, true, day)).toEqual({ from: 1, to: 2 });
  expect(moveSelection({ from: 22, to: 24 }, 1, true, day)).toEqual({ from: 22, to: 24 });
});
