import { expect, test } from 'vitest';
import type { RunChanges } from '#lib/api/types.ts';
import { changedParts, namesOf } from './changes.ts';

const changes: RunChanges = {
  run_id: 'r2',
  base_run_id: 'r1',
  from: 1,
  to: 2,
  files: [],
  files_omitted: 0,
  settings: [{ name: 'start_mode', before: 'warm', after: 'cold' }],
  environment: { python: { before: null, after: '3.12' }, packages: [] },
  parameters: [{ name: 'limit', before: 10, after: { most: 20 } }],
  configuration: { variables: [{ name: 'REGION', change: 'changed' }], secrets: null },
  runtime: [],
};

test('the changes of a run omit unchanged parts', () => {
  expect(changedParts(changes)).toEqual([
    { title: 'Parameters', pairs: [{ name: 'limit', before: '10', after: '{"most":20}' }] },
    { title: 'Packages', pairs: [{ name: 'Python', before: null, after: '3.12' }] },
    { title: 'Settings', pairs: [{ name: 'Start mode', before: 'warm', after: 'cold' }] },
  ]);
});

test('the changes of a run name each changed variable and secret', () => {
  expect(namesOf(changes)).toEqual([{ kind: 'Variable', name: 'REGION', change: 'changed' }]);
  expect(namesOf({ ...changes, configuration: null })).toEqual([]);
});
