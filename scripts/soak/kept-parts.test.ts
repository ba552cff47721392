import { expect, test } from 'vitest';
import { wrongParts, type Age, type RunParts } from './kept-parts.ts';

const kept: RunParts = { run: 'r', hasLog: true, artifacts: 3, hasParams: true };
const removed: RunParts = { run: 'r', hasLog: false, artifacts: 0, hasParams: true };

test.each<[string, Age, RunParts, readonly string[]]>([
  ['the retention check accepts a recent run with all its data', 'recent', kept, []],
  ['the retention check accepts an outdated run with only its parameters', 'outdated', removed, []],
  [
    'the retention check reports a lost log',
    'recent',
    { ...kept, hasLog: false },
    ['recent run r lost its log'],
  ],
  [
    'the retention check reports lost artifacts',
    'recent',
    { ...kept, artifacts: 2 },
    ['recent run r has 2 artifacts'],
  ],
  [
    'the retention check reports lost parameters of a recent run',
    'recent',
    { ...kept, hasParams: false },
    ['recent run r lost its parameters'],
  ],
  [
    'the retention check reports lost parameters of an outdated run',
    'outdated',
    { ...removed, hasParams: false },
    ['outdated run r lost its parameters'],
  ],
  [
    'the retention check reports a log that should have been removed',
    'outdated',
    { ...removed, hasLog: true },
    ['outdated run r still has its log'],
  ],
  [
    'the retention check reports artifacts that should have been removed',
    'outdated',
    { ...removed, artifacts: 1 },
    ['outdated run r has 1 artifacts'],
  ],
])('%s', (_name, age, found, problems) => {
  expect(wrongParts(age, found, 3)).toEqual(problems);
});
