import { expect, test } from 'vitest';
import { waitingLabel } from './labels.ts';

test.each([
  [null, null],
  [{ kind: 'label', name: 'gpu' }, 'Waiting for a runtime with the label gpu'],
  [{ kind: 'slot', name: 'runtime' }, 'Waiting for a free runtime'],
  [{ kind: 'slot', name: 'Import' }, 'Waiting for a free slot for Import'],
  [{ kind: 'approval', name: 'Report' }, 'Waiting for approval'],
] as const)('a run whose waiting_for is %j is described as %j', (waitingFor, word) => {
  expect(waitingLabel({ waiting_for: waitingFor })).toBe(word);
});
